#!/usr/bin/env bash
# Every network with every estimator on one folder of shards, measured on test: dev picks
# the checkpoints, test is read once. Three seeds, or the seeds in $SEEDS.
#
#   recipes/results.sh SHARDS OUT [MLP FLAGS ...]
#
# MLP FLAGS are those that recipes/mlp.sh found on dev. Then
#
#   python recipes/tables.py collect OUT/results_* --names kgscout=walk \
#       --into recipes/figures/NAME.json
#
# A set without a test split goes fold by fold (recipes/folds.py), with SEEDS=0 and
# an OUT for each fold: tables.py collect OUT_*/results_0 --folds 5 ...
set -euo pipefail
shards=${1:?folder of shards with dev and test}
out=${2:?folder to write}
shift 2
epochs=${EPOCHS:-8}
for seed in ${SEEDS:-0 1 2}; do
    run() { # NAME FLAGS ...
        local name=$1
        shift
        python train.py --shards "$shards" --run "$out/${name}_$seed" --seed "$seed" "$@"
    }
    walk=(--policy walk --candidates 256 --epochs "$epochs")
    run walk "${walk[@]}"
    run walk_connected "${walk[@]}" --connectivity-weight 4
    run walk_bce "${walk[@]}" --estimator bce
    run walk_reinforce "${walk[@]}" --estimator reinforce
    run thesis --policy thesis --epochs "$epochs"
    run thesis_reinforce --preset thesis --epochs "${THESIS_EPOCHS:-30}"
    run mlp --policy mlp --estimator bce --epochs 100 --patience 10 \
        --select path_triplet_recall "$@"
    run mlp_closed_form --policy mlp --estimator closed_form --epochs "$epochs"
    also=()
    for name in walk_connected walk_bce walk_reinforce thesis thesis_reinforce mlp \
        mlp_closed_form; do
        also+=("$name=$out/${name}_$seed")
    done
    python eval.py retrieval --run "$out/walk_$seed" --shards "$shards" --split test \
        --k 10 30 50 100 --also "${also[@]}" --reference cosine --out "$out/results_$seed"
done
