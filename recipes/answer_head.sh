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
    --word-rank 16 --question-noise 0.2 --epochs 3
answers "$out/run_metaqa" "$out/metaqa" "$out/answers_metaqa"

python -m data_prep pathquestion --input "$data/pathquestion" --out "$out/pathquestion"
python train.py --shards "$out/pathquestion" --run "$out/run_pathquestion" \
    --policy walk --word-rank 16 --question-noise 0.2 --epochs 8
answers "$out/run_pathquestion" "$out/pathquestion" "$out/answers_pathquestion"

# The Freebase excerpt has no test split: five folds, with the head and without.
python recipes/folds.py make "$data"/webqsp/*.jsonl --out "$out/folds"
for fold in "$out"/folds/*; do
    seed=$(basename "$fold")
    python -m data_prep kg --kg "$data/webqsp/kg.tsv" --input "$fold" \
        --out "$fold/shards"
    python train.py --shards "$fold/shards" --run "$fold/head" --policy walk \
        --seed "$seed" --word-rank 16
    python train.py --shards "$fold/shards" --run "$fold/none" --policy walk \
        --seed "$seed" --word-rank 16 --answer-width 0
    python eval.py retrieval --run "$fold/head" --also "none=$fold/none" \
        --reference none --shards "$fold/shards" --split test --k 10 30 100 \
        --out "$fold/retrieval"
    answers "$fold/head" "$fold/shards" "$fold/answers"
done
python recipes/folds.py pool "$out"/folds/*/retrieval/questions.jsonl --against none
python recipes/folds.py pool "$out"/folds/*/answers/questions-scout-k100.jsonl
