#!/usr/bin/env bash
# WebQSP or CWQ with our improvements: recipes/README.md lists every difference from
# recipes/webqsp.sh and recipes/cwq.sh. All training questions.
#
#   recipes/rog.sh PARQUET_FOLDER OUT [EPOCHS]
set -euo pipefail
data=${1:?folder with the parquet files}
out=${2:?folder to write}
epochs=${3:-8}
python -m data_prep rog --input "$data" --out "$out/shards"
python train.py --policy walk --shards "$out/shards" --run "$out/run" \
    --epochs "$epochs"
python eval.py retrieval --run "$out/run" --shards "$out/shards" --split test \
    --k 30 50 100 150 --out "$out/results"
