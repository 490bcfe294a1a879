#!/usr/bin/env bash
# CWQ as in the thesis: 3,000 training questions drawn at random, 50 epochs. Otherwise as
# recipes/webqsp.sh.
#
#   recipes/cwq.sh PARQUET_FOLDER OUT [EPOCHS]
set -euo pipefail
data=${1:?folder with the parquet files}
out=${2:?folder to write}
epochs=${3:-50}
python -m data_prep rog --preset thesis --input "$data" --out "$out/shards" \
    --train-questions 3000
python train.py --preset thesis --shards "$out/shards" --run "$out/run" \
    --epochs "$epochs"
python eval.py retrieval --run "$out/run" --shards "$out/shards" --split test \
    --k 30 50 100 150 --out "$out/results"
