#!/usr/bin/env bash
# MetaQA (vanilla, 1 to 3 hops) with the closed form, on 3,000 training questions.
#
#   recipes/metaqa.sh METAQA_FOLDER SPLIT OUT
set -euo pipefail
data=${1:?folder with kb.txt and the question files}
split=${2:?split to measure on}
out=${3:?folder to write}
python -m data_prep metaqa --input "$data" --out "$out/shards" --train-questions 3000
python train.py --shards "$out/shards" --run "$out/closed_form" --epochs 4
python eval.py retrieval --run "$out/closed_form" --shards "$out/shards" \
    --split "$split" --out "$out/results"
