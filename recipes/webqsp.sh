#!/usr/bin/env bash
# The thesis's settings for WebQSP: REINFORCE, K = 100, 30 epochs, PageRank and reward
# along the edges' direction, top 1,000 of each question's own subgraph by cosine.
#
#   recipes/webqsp.sh PARQUET_FOLDER OUT
#
# PARQUET_FOLDER holds the RoG release of WebQSP (train, validation and test parquet
# files). Sampled subsets per question, their leave-one-out baseline and the step size
# are the defaults, ours: the thesis does not name them (see recipes/README.md).
# Not run here to the end: the published subgraphs are not part of the project.
set -euo pipefail
data=${1:?folder with the parquet files}
out=${2:?folder to write}
python -m data_prep rog --input "$data" --out "$out/shards" --direction directed \
    --cut ppr --select cosine
python train.py --shards "$out/shards" --run "$out/reinforce" --epochs 30 \
    --estimator reinforce --staleness 0
python eval.py retrieval --run "$out/reinforce" --shards "$out/shards" --split test \
    --k 30 50 100 150 --out "$out/results"
