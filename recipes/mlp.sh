#!/usr/bin/env bash
# The MLP with distances, tuned as its authors tune it: learning rates, batches and
# weights of the positives, each until triplet recall on dev has not risen for ten epochs.
# The run with the highest dev score is the peer of every table.
#
#   recipes/mlp.sh SHARDS OUT [SEED]
#
# Give shards of `prep ... --candidates 2000` for distances over the whole cut. Leaves
# out head and tail embeddings: shards hold those of triplets and relations only.
set -euo pipefail
shards=${1:?folder of shards with a dev split}
out=${2:?folder to write}
seed=${3:-0}
for rate in 1e-3 3e-4 1e-4; do
    for batch in 1 4 16; do
        for weight in 1 10; do
            python train.py --shards "$shards" --policy mlp --estimator bce \
                --run "$out/rate_${rate}_batch_${batch}_weight_${weight}_seed_$seed" \
                --learning-rate "$rate" --batch-size "$batch" \
                --positive-weight "$weight" --seed "$seed" \
                --select path_triplet_recall --patience 10 --epochs 100
        done
    done
done
kgscout runs "$out"
