#!/usr/bin/env bash
# The policy that comes with the package, from its data to its files, and the figures of
# recipes/base.md.
#
#   recipes/base.sh DATA OUT [TRAINED]
#
# DATA holds webqsp_union/ and cwq_union/ (questions as JSON lines, kg.tsv in the first),
# metaqa/ and pathquestion/ as published. The built-in questions and the graphs of data
# packages are made here. Two cores take a few hours, of which the thirteen walk policies are
# two hours of one core.
set -euo pipefail
data=${1:?folder with webqsp_union/, cwq_union/, metaqa/ and pathquestion/}
out=${2:?folder to write}
trained=${3:-} # folder with webqsp_walk_0, metaqa_walk_0, ...: policies of each set's own
# questions, of seeds 0 to 2
sets=$out/sets
mkdir -p "$sets"

prep_kg() { # NAME KG QUESTIONS
    [ -e "$sets/$1/manifest.json" ] ||
        python -m data_prep kg --kg "$2" --input "$3" --out "$sets/$1"
}
synth() { # NAME GRAPH QUESTIONS
    kgscout synth "$2" --out "$out/questions/$1" --questions "$3"
    prep_kg "$1" "$2" "$out/questions/$1"
}

# --- questions of people, and of templates over a graph of facts
freebase=$data/webqsp_union/kg.tsv
for name in webqsp cwq; do
    mkdir -p "$out/questions/$name"
    cp "$data/${name}_union/"*.jsonl "$out/questions/$name"
    prep_kg $name "$freebase" "$out/questions/$name"
done
python -m data_prep metaqa --input "$data/metaqa" --train-questions 12000 \
    --out "$sets/metaqa"
python -m data_prep pathquestion --input "$data/pathquestion" --out "$sets/pathquestion"
python -m data_prep world --out "$sets/world"

# --- questions made from the same graphs, and from those of data packages
tr '|' '\t' <"$data/metaqa/kb.txt" >"$out/metaqa.tsv"
sort -u "$data"/pathquestion/*-kb.txt >"$out/pathquestion.tsv"
python - "$sets/world" "$out/world.tsv" <<'PYTHON'
import sys
from pathlib import Path
from kgscout_jax.data.shards import Shards
from kgscout_jax.utils.io import write_lines
shards = Shards.open(Path(sys.argv[1]))
name, relation = shards.entities, shards.relations
write_lines(Path(sys.argv[2]), [
    f"{name[h]}\t{relation[r]}\t{name[t]}" for h, r, t in shards.triplets.tolist()
])
PYTHON
synth synth-webqsp "$freebase" 6000
for name in metaqa pathquestion world; do
    synth synth-$name "$out/$name.tsv" 3000
done
python recipes/base_graphs.py "$out/graphs"
for graph in "$out"/graphs/*.tsv; do
    synth "synth-$(basename "$graph" .tsv)" "$graph" 1500
done

# --- questions as people word them over graphs of invented facts
python recipes/worded_graphs.py "$out/worded"
mapfile -t worded < <(basename -s .json recipes/worded_graphs/*.json)
for name in "${worded[@]}"; do
    folder=$out/worded/$name
    [ -e "$sets/worded-$name/manifest.json" ] ||
        python -m data_prep kg --kg "$folder/kg.tsv" --input "$folder/questions" \
            --hops 3 --out "$sets/worded-$name"
done

# --- training: on all sets, and four times three seeds without those of one graph
train() { # RUN EPOCHS QUESTIONS SETS-LEFT-OUT SEED
    local run=$1 epochs=$2 questions=$3 left_out=$4 seed=$5 folders=() mix=()
    for pair in webqsp:2 cwq:1.5 synth-webqsp:2 metaqa:2.5 synth-metaqa:0.8 \
        pathquestion:1 synth-pathquestion:0.4 world:1.5 synth-world:0.5 \
        $(for graph in "$out"/graphs/*.tsv; do
            echo "synth-$(basename "$graph" .tsv):0.5"
        done) $(printf 'worded-%s:0.7 ' "${worded[@]}"); do
        [[ ${pair%:*} =~ $left_out ]] && continue
        folders+=("$sets/${pair%:*}") mix+=("${pair#*:}")
    done
    python train.py --policy walk --without absolute --candidates 256 \
        --epochs "$epochs" --questions-per-epoch "$questions" --dev-questions 60 \
        --shards "${folders[@]}" --mix "${mix[@]}" --seed "$seed" --run "$run"
}
train "$out/base" 2 122000 '^$' 0
for seed in 0 1 2; do
    suffix=$([ $seed = 0 ] || echo "-$seed")
    train "$out/without-freebase$suffix" 1 82000 'webqsp|cwq' $seed
    for name in metaqa pathquestion world; do
        train "$out/without-$name$suffix" 1 82000 "$name" $seed
    done
done
mlp() { # SET-LEFT-OUT: the MLP of the literature on the other sets of people's questions
    local folders=() mix=()
    for pair in webqsp:1.5 metaqa:2.5 pathquestion:1 world:1.5; do
        [ "${pair%:*}" = "$1" ] && continue
        folders+=("$sets/${pair%:*}") mix+=("${pair#*:}")
    done
    python train.py --policy mlp --estimator bce --select path_triplet_recall \
        --epochs 4 --questions-per-epoch 10000 --dev-questions 60 --patience 10 \
        --shards "${folders[@]}" --mix "${mix[@]}" --run "$out/mlp-without-$1"
}
for name in webqsp metaqa pathquestion world; do mlp $name; done
declare -A without=([webqsp]=freebase [metaqa]=metaqa [pathquestion]=pathquestion
    [world]=world)

# --- the bundled files
pairs=() synthetic=("$out/without-freebase=$sets/cwq")
for name in webqsp metaqa pathquestion world; do
    pairs+=("$out/without-${without[$name]}=$sets/$name")
    synthetic+=("$out/without-${without[$name]}=$sets/synth-$name")
done
python recipes/base_scale.py "${pairs[@]}" "${synthetic[@]}" --into "$out/scale.json" \
    --figures recipes/figures/answer_scale.json
python recipes/base_bundle.py "$out/base" --answer-scale "$out/scale.json"

# --- figures: each set by the policy that has not seen its graph
python recipes/answer_kinds.py "${pairs[@]/#/left out:}" \
    "kgscout-base:$out/base="{"$sets/webqsp","$sets/metaqa","$sets/pathquestion","$sets/world"} \
    --into recipes/figures/answer_kinds.json
for name in webqsp metaqa pathquestion world; do
    split=test
    [ $name = webqsp ] && split=dev
    for seed in 0 1 2; do
        also=(--also) run=$out/without-${without[$name]}$([ $seed = 0 ] || echo "-$seed")
        [ $seed = 0 ] && also+=("kgscout-base=$out/base" "mlp=$out/mlp-without-$name")
        [ -n "$trained" ] && also+=("trained=$trained/${name}_walk_$seed")
        [ ${#also[@]} = 1 ] && also=()
        python eval.py retrieval --run "$run" "${also[@]}" \
            --retrievers kgscout cosine bm25 ppr --shards "$sets/$name" --split $split \
            --k 10 30 100 --out "$out/results/$name-$seed"
        python eval.py answers --run "$run" --shards "$sets/$name" --split $split \
            --reader graph --retrievers scout --k 100 --out "$out/results/$name-answers-$seed"
    done
    python recipes/tables.py collect "$out/results/$name-"{0,1,2} \
        --names kgscout=zero-shot --into "recipes/figures/zero_shot_$name.json"
    python recipes/tables.py collect "$out/results/$name-answers-"{0,1,2} \
        --names scout=zero-shot --into "recipes/figures/zero_shot_answers_$name.json"
done
python recipes/tables.py write recipes/base.md kgscout_jax/export/base/README.md
