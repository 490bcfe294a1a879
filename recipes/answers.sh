#!/usr/bin/env bash
# Answers of a small local model: no triplets, cosine's, KG-Scout's, at three K.
#
#   recipes/answers.sh [FLAGS] OUT RUN SHARDS [RUN SHARDS ...]
#
# Each SHARDS is measured with its RUN (a trained run, or an export of one) into
# OUT/<name of SHARDS>. Stopped in the middle, or the server gone: the same command goes
# on and asks for nothing twice; larger counts ask only for the questions that are new.
#
#   --url URL        OpenAI-compatible server (http://127.0.0.1:8081/v1)
#   --model NAME     the model's name there (qwen)
#   --split NAME     split to take questions from (test)
#   --k "10 30 100"  triplets kept
#   --limit "50 25 10"  questions at each K, the smaller draw inside the larger
#   --prompt NAME    prompt template (one_shot)
#   --tokens N       longest reply (96)
#   --concurrency N  requests at a time (1: one core answers one at a time)
#
# Left out: a second seed, other models. On one CPU core a question takes from 10 s
# without triplets to two minutes at K = 100.
set -euo pipefail
url=http://127.0.0.1:8081/v1 model=qwen split=test k="10 30 100" limit="50 25 10"
prompt=one_shot tokens=96 concurrency=1
while [[ ${1:-} == --* ]]; do
    name=${1#--}
    case $name in
        url | model | split | k | limit | prompt | tokens | concurrency)
            printf -v "$name" %s "${2:?value of --$name}"
            shift 2
            ;;
        *)
            echo "error: unknown flag $1 (see the head of $0)" >&2
            exit 2
            ;;
    esac
done
out=${1:?folder to write}
shift
if (($# == 0 || $# % 2)); then
    echo "error: $# arguments after $out, expected RUN SHARDS, or several pairs" >&2
    exit 2
fi
status=0
while (($#)); do
    # shellcheck disable=SC2086 (k and limit are lists)
    ${PYTHON:-python} eval.py answers --run "$1" --shards "$2" --split "$split" \
        --retrievers none cosine scout --k $k --limit $limit \
        --llm "$url" --model "$model" --prompt "$prompt" --max-tokens "$tokens" \
        --extra '{"cache_prompt": true}' --concurrency "$concurrency" \
        --timeout 900 --retries 2 --out "$out/$(basename "$2")" || status=$?
    shift 2
done
exit "$status"
