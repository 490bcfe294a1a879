#!/usr/bin/env bash
# The thesis's settings for CWQ: 3,000 training questions drawn at random, 50 epochs.
# Otherwise as recipes/webqsp.sh.
#
#   recipes/cwq.sh PARQUET_FOLDER OUT
set -euo pipefail
data=${1:?folder with the parquet files}
out=${2:?folder to write}
python -m data_prep rog --input "$data" --out "$out/shards" --direction directed \
    --cut ppr --select cosine --train-questions 3000
python train.py --shards "$out/shards" --run "$out/reinforce" --epochs 50 \
    --estimator reinforce
python eval.py retrieval --run "$out/reinforce" --shards "$out/shards" --split test \
    --k 30 50 100 150 --out "$out/results"
