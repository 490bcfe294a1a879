#!/usr/bin/env bash
# What `kgscout fit` gains on graphs that its base has not seen, its questions hidden: the
# table of recipes/base.md.
#
#   recipes/fit.sh DATA BASE OUT
#
# DATA is the folder that recipes/base.sh read, BASE the one that it wrote. Two busy cores
# take half an hour.
set -euo pipefail
data=${1:?folder with webqsp_union/}
base=${2:?folder that recipes/base.sh wrote}
out=${3:?folder to write}
declare -A without=([webqsp]=freebase [metaqa]=metaqa [pathquestion]=pathquestion
    [world]=world)
policies=()
for name in webqsp metaqa pathquestion world; do
    split=test graph=$base/$name.tsv
    hops=3
    [ $name = webqsp ] && split=dev graph=$data/webqsp_union/kg.tsv
    [ $name = world ] && hops=4  # as in its preparation
    python recipes/fit_gains.py questions "$base/sets/$name" $split \
        "$out/questions/$name/test.jsonl"
    [ -e "$out/$name/fit.json" ] ||
        kgscout fit "$graph" --hops $hops --base "$base/without-${without[$name]}" \
            --questions "$out/questions/$name" --out "$out/$name"
    policies+=("$out/$name")
done
python recipes/fit_gains.py collect "${policies[@]}" --into recipes/figures/fit.json
python recipes/tables.py write recipes/base.md
