#!/usr/bin/env bash
# OKGQA's table 2 with a model of one's own: the published questions over a graph, and
# questions generated from the built-in world.
#
#   recipes/okgqa_ladder.sh [FLAGS] OUT QUESTIONS.csv GRAPH
#
# OUT/published has the first table, OUT/world/questions the generated questions with
# their scores, OUT/world/table the second table. Stopped in the middle: the same command
# goes on and asks for nothing twice.
#
#   --url URL        OpenAI-compatible server (http://127.0.0.1:8081/v1)
#   --model NAME     the model's name there (qwen)
#   --limit N        published questions, the types in turn (50)
#   --n N            questions to generate (40)
#   --ladder "..."   ways to prompt (zero_shot 4_shot cot cot_sc)
#   --retrievers "..." (kgscout cosine prize_triplets prize_paths prize_subgraph)
#   --forms "..."    forms of the triplets (triplets paths subgraph)
#   --judges "..."   (geval factscore safe)
#   --k N            triplets per question (10)
#   --tokens N       longest answer (160)
#   --samples N      replies per score of geval without probabilities (20)
#   --concurrency N  requests at once (1); more for a server that batches
#
# Left out: a second seed, another judge than the model itself, Wikipedia's pages.
# On one CPU core an answer takes about half a minute (cot_sc: times its 3 samples), and
# its judgement about half a minute by geval, two by factscore and five by safe: --limit 5
# --n 10 --ladder "zero_shot cot" --retrievers "kgscout prize_subgraph" --forms
# "subgraph" --judges "geval factscore" is an evening (60 answers of about 3.5 minutes),
# all of it weeks.
set -euo pipefail
url=http://127.0.0.1:8081/v1 model=qwen limit=50 n=40 k=10 tokens=160 samples=20 concurrency=1
ladder="zero_shot 4_shot cot cot_sc" judges="geval factscore safe"
retrievers="kgscout cosine prize_triplets prize_paths prize_subgraph"
forms="triplets paths subgraph"
while [[ ${1:-} == --* ]]; do
    name=${1#--}
    case $name in
        url | model | limit | n | k | tokens | samples | ladder | judges | retrievers | forms \
            | concurrency)
            printf -v "$name" %s "${2:?value of --$name}"
            shift 2
            ;;
        *)
            echo "error: unknown flag $1 (see the head of $0)" >&2
            exit 2
            ;;
    esac
done
if (($# != 3)); then
    echo "error: $# arguments, expected OUT QUESTIONS.csv GRAPH (see the head of $0)" >&2
    exit 2
fi
out=$1 questions=$2 graph=$3
cd "$(dirname "$0")/.."
model_flags=(--llm "$url" --model "$model" --concurrency "$concurrency" --timeout 900)

table() {  # QUESTIONS GRAPH FOLDER [FLAGS]
    # shellcheck disable=SC2086  # lists of words
    python eval.py open --questions "$1" --kg "$2" --out "$3" \
        --ladder $ladder --retrievers $retrievers --forms $forms --judges $judges \
        --k "$k" --max-tokens "$tokens" --sc-samples 3 --geval-samples "$samples" \
        --safe-searches 1 --passages 3 --search bm25 "${model_flags[@]}" "${@:4}"
}

mkdir -p "$out/world"
if [[ ! -e $out/world/kg.tsv ]]; then
    python -c '
import sys
from data_prep.sources.world import load
graph = load().graph
for i in range(len(graph.triplets)):
    print(*graph.triplet(i), sep="\t")
' > "$out/world/kg.part"
    mv "$out/world/kg.part" "$out/world/kg.tsv"
fi
if ((limit > 0)); then
    table "$questions" "$graph" "$out/published" --limit "$limit"
fi
python -m kgscout_jax questions --kg "$out/world/kg.tsv" --n "$n" \
    --out "$out/world/questions" "${model_flags[@]}"
table "$out/world/questions/questions.jsonl" "$out/world/kg.tsv" "$out/world/table"
