#!/usr/bin/env bash
# Questions over one shared graph: the faithful network trained with both estimators,
# each measured beside cosine, PageRank and the ceiling.
#
#   recipes/shared_graph.sh KG QUESTIONS SPLIT OUT
#
# KG is a triplet file, QUESTIONS a folder with train.jsonl and dev.jsonl, SPLIT the split
# to measure on. Leaves out several seeds and cross-dataset figures.
set -euo pipefail
kg=${1:?triplet file}
questions=${2:?folder with train.jsonl, dev.jsonl}
split=${3:?split to measure on}
out=${4:?folder to write}
python -m data_prep kg --kg "$kg" --input "$questions" --out "$out/shards"
python train.py --shards "$out/shards" --run "$out/closed_form"
python train.py --shards "$out/shards" --run "$out/reinforce" --estimator reinforce \
    --epochs 30
for run in closed_form reinforce; do
    python eval.py retrieval --run "$out/$run" --shards "$out/shards" --split "$split" \
        --out "$out/results_$run"
done
