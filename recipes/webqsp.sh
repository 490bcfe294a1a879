#!/usr/bin/env bash
# WebQSP as in the thesis: `--preset thesis` prepares, trains and refuses what contradicts
# it; `kgscout prep --preset thesis --help` and `kgscout train --preset thesis --help` put
# every value beside its section. recipes/rog.sh is the same data with our improvements.
#
#   recipes/webqsp.sh PARQUET_FOLDER OUT [EPOCHS]
#
# PARQUET_FOLDER holds the RoG release of WebQSP (train, validation and test parquet
# files). Left out: the language model (`eval.py answers --prompt thesis`). Not run here
# to the end: the published subgraphs are not part of the project.
set -euo pipefail
data=${1:?folder with the parquet files}
out=${2:?folder to write}
epochs=${3:-30}
python -m data_prep rog --preset thesis --input "$data" --out "$out/shards"
python train.py --preset thesis --shards "$out/shards" --run "$out/run" \
    --epochs "$epochs"
python eval.py retrieval --run "$out/run" --shards "$out/shards" --split test \
    --k 30 50 100 150 --out "$out/results"
