#!/usr/bin/env bash
# What `kgscout fit` gains on graphs that its base has not seen, its questions hidden: the
# table of recipes/base.md.
#
#   recipes/fit.sh BASE OUT
#
# BASE is the folder that recipes/base.sh wrote. Each fit takes about five minutes.
set -euo pipefail
base=${1:?folder that recipes/base.sh wrote}
out=${2:?folder to write}
declare -A without=([webqsp]=freebase [metaqa]=others [pathquestion]=others
    [world]=others)
policies=()
for name in webqsp metaqa pathquestion world; do
    split=test graph=$base/$name.tsv
    [ $name = webqsp ] && split=dev graph=${FREEBASE:?kg.tsv of webqsp_union}
    python recipes/fit_gains.py questions "$base/sets/$name" $split \
        "$out/questions/$name/test.jsonl"
    [ -e "$out/$name/fit.json" ] ||
        kgscout fit "$graph" --base "$base/without-${without[$name]}" \
            --questions "$out/questions/$name" --out "$out/$name"
    policies+=("$out/$name")
done
python recipes/fit_gains.py collect "${policies[@]}" --into recipes/figures/fit.json
python recipes/tables.py write recipes/base.md
