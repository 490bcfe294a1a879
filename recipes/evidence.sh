#!/usr/bin/env bash
# Evidence quality: the walk policy, the thesis's network and the MLP of the literature on
# the same shards, three seeds each, compared question by question.
#
#   recipes/evidence.sh SHARDS OUT EPOCHS EPOCHS_MLP EPOCHS_THESIS [OTHER_SHARDS ...]
#
# Also measures what was trained here on every OTHER_SHARDS. Two CPU cores take about five
# minutes a run.
set -euo pipefail
shards=${1:?folder of shards with a dev split}
out=${2:?folder to write}
epochs=${3:-10} epochs_mlp=${4:-12} epochs_thesis=${5:-8}
shift $(($# < 5 ? $# : 5))
for seed in 0 1 2; do
    python train.py --shards "$shards" --run "$out/walk_$seed" --policy walk \
        --epochs "$epochs" --seed "$seed"
    python train.py --shards "$shards" --run "$out/mlp_$seed" --policy mlp \
        --estimator bce --epochs "$epochs_mlp" --seed "$seed"
    python train.py --shards "$shards" --run "$out/thesis_$seed" \
        --epochs "$epochs_thesis" --seed "$seed"
    python eval.py retrieval --run "$out/walk_$seed" --shards "$shards" --split dev \
        --k 10 30 50 100 --reference mlp --out "$out/results_$seed" \
        --also "mlp=$out/mlp_$seed" "thesis=$out/thesis_$seed"
done
for other in "$@"; do
    python eval.py retrieval --run "$out/walk_0" --shards "$other" --split dev \
        --k 10 30 50 100 --reference mlp --also "mlp=$out/mlp_0" \
        --out "$out/cross_$(basename "$other")"
done
