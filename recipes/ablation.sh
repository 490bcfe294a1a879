#!/usr/bin/env bash
# What each part of the walk policy is worth: the shipped network without it, three seeds,
# on dev (it decides nothing that is reported on test).
#
#   recipes/ablation.sh SHARDS OUT [EPOCHS]
#
# Then: python recipes/tables.py collect OUT/results_* --names kgscout=whole \
#           --into recipes/figures/ablation_NAME.json
set -euo pipefail
shards=${1:?folder of shards with dev}
out=${2:?folder to write}
epochs=${3:-8}
parts=(walks distances products residual)
for seed in ${SEEDS:-0 1 2}; do
    run() { # NAME FLAGS ...
        local name=$1
        shift
        python train.py --shards "$shards" --run "$out/${name}_$seed" --seed "$seed" \
            --policy walk --epochs "$epochs" "$@"
    }
    run whole
    run bce_too --bce-weight 2
    run cross_entropy --estimator bce
    run no_noise --question-noise 0
    also=(bce_too="$out/bce_too_$seed" cross_entropy="$out/cross_entropy_$seed"
        no_noise="$out/no_noise_$seed")
    for part in "${parts[@]}"; do
        run "no_$part" --without "$part"
        also+=("no_$part=$out/no_${part}_$seed")
    done
    python eval.py retrieval --run "$out/whole_$seed" --shards "$shards" --split dev \
        --k 10 30 50 100 --reference kgscout --also "${also[@]}" --out "$out/results_$seed"
done
