#!/usr/bin/env bash
# Which selection survives a graph that is a third wrong, and does training on one help?
#
#   recipes/robustness.sh SHARDS NAME OUT
#
# Every retriever with the bundled policy, on the dev split of SHARDS with four kinds of
# mistakes; then two policies trained on SHARDS, one of them with a third of its triplets
# rewired, both measured on the same rewired triplets. The figures go to
# recipes/figures/robustness_NAME*.json, which robustness.md shows. A measurement embeds
# the changed triplets: half an hour for all retrievers on one busy core, less where
# their sentences are in the cache. The same command resumes.
set -euo pipefail
shards=$1 name=$2 out=$3

measure() { # RUN FOLDER ARGUMENTS
    local run=$1 folder=$2
    shift 2
    python eval.py robustness --run "$run" --shards "$shards" --split dev --limit 100 \
        --levels 0 .2 .4 .6 .8 1 --out "$out/$folder" "$@"
}
collect() { # FOLDER FIGURES ARGUMENTS
    python recipes/tables.py collect "$out/$1" --into "recipes/figures/$2.json" "${@:3}"
}

measure kgscout_jax/export/base all
collect all "robustness_$name"

walk=(--policy walk --epochs 8 --candidates 256)
python train.py --shards "$shards" --run "$out/run_clean" "${walk[@]}"
python train.py --shards "$shards" --perturb er:0.33 --run "$out/run_er" "${walk[@]}"
measure "$out/run_clean" trained --methods er --retrievers kgscout \
    --also "trained_er=$out/run_er"
collect trained "robustness_${name}_trained" --names kgscout=trained_clean
python recipes/tables.py write recipes/robustness.md
