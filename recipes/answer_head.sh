#!/usr/bin/env bash
# Answers of the graph itself: the figures of recipes/answer_head.md.
#
#   recipes/answer_head.sh DATA OUT
#
# DATA holds metaqa/ and pathquestion/ as published, and webqsp/ with kg.tsv and questions.
# The built-in questions are those of make demo. Two idle cores take about two hours.
set -euo pipefail
data=${1:?folder with metaqa/, pathquestion/ and webqsp/}
out=${2:?folder to write}
answers() { # RUN SHARDS OUT
    python eval.py answers --run "$1" --shards "$2" --split test --reader graph \
        --retrievers scout --k 100 --out "$3"
}

python -m data_prep metaqa --input "$data/metaqa" --out "$out/metaqa"
python train.py --shards "$out/metaqa" --run "$out/run_metaqa" --policy walk \
    --question-noise 0.2 --epochs 3 --select hits@1 --dev-questions 1000
answers "$out/run_metaqa" "$out/metaqa" "$out/answers_metaqa"

python -m data_prep pathquestion --input "$data/pathquestion" --out "$out/pathquestion"
python train.py --shards "$out/pathquestion" --run "$out/run_pathquestion" \
    --policy walk --candidates 256 --question-noise 0.2 --epochs 8
answers "$out/run_pathquestion" "$out/pathquestion" "$out/answers_pathquestion"

# The Freebase excerpt has no test split: five folds, with the head and without.
python -m data_prep kg --kg "$data/webqsp/kg.tsv" --input "$data/webqsp" --out "$out/webqsp"
python recipes/folds.py "$out/webqsp" --out "$out/folds"
for fold in "$out"/folds/*; do
    seed=$(basename "$fold")
    python train.py --shards "$fold" --run "$out/head_$seed" --policy walk \
        --candidates 256 --epochs 10 --seed "$seed"
    python train.py --shards "$fold" --run "$out/none_$seed" --policy walk \
        --candidates 256 --epochs 10 --seed "$seed" --answer-width 0
    python eval.py retrieval --run "$out/head_$seed" --also "none=$out/none_$seed" \
        --reference none --shards "$fold" --split test --k 10 30 100 \
        --out "$out/retrieval_$seed"
    answers "$out/head_$seed" "$fold" "$out/answers_$seed"
done
for kind in retrieval answers; do
    python recipes/tables.py collect "$out/$kind"_? --folds 5 \
        --into "recipes/figures/head_${kind}_webqsp.json"
done
