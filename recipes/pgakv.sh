#!/usr/bin/env bash
# PG&AKV with a small local model: pseudo-graphs, verification, both sweeps.
#
#   recipes/pgakv.sh [FLAGS] OUT EXCERPT WEBQSP_SHARDS WEBQSP_RUN METAQA_SHARDS METAQA_RUN
#
# EXCERPT is the Freebase excerpt as a triplet file, which WEBQSP_SHARDS are made of. Three
# sets: dev of both shards, and questions that need the excerpt and the built-in world graph
# (recipes/pgakv_questions.py). On each: Cypher, with the sweeps, and plain triplets without
# them. Stopped in the middle, the same command goes on and asks for nothing twice.
#
#   --url URL      OpenAI-compatible server (http://127.0.0.1:8081/v1)
#   --model NAME   the model's name there (qwen)
#   --limit N      questions of each set, at most (100)
#   --swept N      questions of each set for the sweeps (40)
#   --k N          triplets that are read, and facts that are compared (20)
#   --concurrency N  requests at once (1); more for a server that batches
#
# A model of 30 prompt and 20 reply tokens a second takes about 17 hours; then
# recipes/pgakv_page.py OUT writes recipes/pgakv.md.
set -euo pipefail
url=http://127.0.0.1:8081/v1 model=qwen limit=100 swept=40 k=20 concurrency=1
while [[ ${1:-} == --* ]]; do
    case ${1#--} in
        url | model | limit | swept | k | concurrency) printf -v "${1#--}" %s "${2:?value of $1}" ;;
        *) echo "error: unknown flag $1 (see the head of $0)" >&2 && exit 2 ;;
    esac
    shift 2
done
out=${1:?folder to write} excerpt=${2:?triplet file of the Freebase excerpt}
webqsp=${3:?shards of WebQSP} webqsp_run=${4:?its run}
metaqa=${5:?shards of MetaQA} metaqa_run=${6:?its run}

if [[ ! -e $out/two/shards/manifest.json ]]; then
    python recipes/pgakv_questions.py "$excerpt" "$out/two"
    kgscout prep kg --kg "$excerpt" "$out/two/world.tsv" --input "$out/two/questions" \
        --hops 3 --out "$out/two/shards"
fi

answers() { # NAME SHARDS RUN ARGUMENTS
    local folder=$out/$1 shards=$2 run=$3
    shift 3
    kgscout eval answers --shards "$shards" --run "$run" --split dev --k "$k" \
        --facts "$k" --llm "$url" --model "$model" --temperature 0 --max-tokens 128 \
        --concurrency "$concurrency" --timeout 900 --retries 2 --extra '{"cache_prompt": true}' \
        --cache "$out/replies" --out "$folder" "$@"
}
sets() { # SUFFIX ARGUMENTS
    local suffix=$1
    shift
    answers "webqsp_$suffix" "$webqsp" "$webqsp_run" "$@"
    answers "metaqa_$suffix" "$metaqa" "$metaqa_run" "$@"
    answers "two_$suffix" "$out/two/shards" "$webqsp_run" "$@"
}
sets cypher --limit "$limit" \
    --retrievers none pseudo verified verified_scout scout scout_pseudo
sets triplets --limit "$limit" --pseudo triplets --retrievers pseudo verified
sets sweep --limit "$swept" --retrievers verified \
    --threshold 0.7 0.5 0.8 --entities 10 3 30
# sources other than the questions' own: WebQSP verified in the world graph
answers webqsp_world "$webqsp" "$webqsp_run" --limit "$limit" --retrievers verified \
    --sources "$out/two/world.tsv"
# two graphs that keep their own schemas, joined when they are asked
answers two_sources "$out/two/shards" "$webqsp_run" --limit "$limit" \
    --retrievers verified --sources "$excerpt" "$out/two/world.tsv"
