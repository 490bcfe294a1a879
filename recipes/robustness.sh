#!/usr/bin/env bash
# Which selection survives a graph that is a third wrong, and does training on one help?
#
#   recipes/robustness.sh SHARDS RUN NAME OUT
#
# RUN is a walk policy with an answer head that was trained on SHARDS. A second one is trained in
# the same way on shards of which a third is rewired; both are measured on the same mistakes. Each
# measurement embeds about three sentences for each triplet of 100 questions: about an hour for
# 100,000 of them on two cores, minutes where they are in the cache. The same command resumes.
set -euo pipefail
shards=$1 run=$2 name=$3 out=$4

measure() { # RUN FOLDER ARGUMENTS
    local run=$1 folder=$2
    shift 2
    python eval.py robustness --run "$run" --shards "$shards" --split dev --limit 100 \
        --levels 0 .2 .4 .6 .8 1 --out "$out/$folder" "$@"
    python recipes/tables.py collect "$out/$folder" \
        --into "recipes/figures/robustness_${name}_$folder.json"
}
measure "$run" clean
python train.py --shards "$shards" --perturb er:0.33 --policy walk --run "$out/run_er"
measure "$out/run_er" rewired --retrievers kgscout prize_triplets

# The page: a region for each extract, filled by
#   python recipes/tables.py write recipes/robustness.md
for folder in clean rewired; do
    for metric in answer_hit path_triplet_recall hits@1; do
        echo "<!-- table: robustness_${name}_$folder metrics=$metric -->"
        echo "<!-- end -->"
    done
done
