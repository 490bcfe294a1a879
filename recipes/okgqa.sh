#!/usr/bin/env bash
# OKGQA: prizes of the policy against prizes of cosine; `robustness.sh` is on graphs with mistakes.
#
#   recipes/okgqa.sh SHARDS RUN NAME OUT [FLAGS]
#
# RUN may be kgscout-base. FLAGS go to `eval.py retrieval`: --limit 300 measures a sample.
# It takes minutes.
set -euo pipefail
shards=$1 run=$2 name=$3 out=$4
flags=("${@:5}")

retrieval() { # FOLDER ARGUMENTS
    local folder=$1
    shift
    python eval.py retrieval --run "$run" --shards "$shards" --split dev --k 10 30 100 \
        --out "$out/$folder" "$@" "${flags[@]}"
}
retrieval kgscout \
    --retrievers kgscout cosine bm25 ppr prize_triplets prize_paths prize_subgraph ceiling
retrieval cosine --retrievers cosine prize_triplets prize_paths prize_subgraph --prizes cosine
for prizes in kgscout cosine; do
    python recipes/tables.py collect "$out/$prizes" \
        --into "recipes/figures/prizes_${name}_$prizes.json"
done
python recipes/tables.py write recipes/okgqa.md
