"""What the questions of a split ask for."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.graph.opaque_names import opaque_mask
from kgscout_jax.retrieve.constrained_logits import QuestionConstraints
from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.value_question_parser import value_question


def split_constraints(
    shards: Shards,
    split: Split,
    rows: Int[np.ndarray, "b"],
    seen: Bool[np.ndarray, "b n"],
) -> list[QuestionConstraints]:
    """What each question of a split asks for.

    Args:
        shards: the folder of the split.
        split: the questions.
        rows: those that are wanted.
        seen: candidates that count, by slot.
    """
    found: list[QuestionConstraints] = []
    for row, mask in zip(rows.tolist(), seen, strict=True):
        slots = np.flatnonzero(mask)
        triplets = shards.triplets[np.asarray(split.candidates[row])[slots]]
        relations, index = np.unique(triplets[:, 1], return_inverse=True)
        nodes = np.asarray(split.nodes[row])[slots].astype(np.int64)
        ends = triplets[:, [0, 2]].ravel().tolist()
        entity = dict(zip(nodes.ravel().tolist(), ends, strict=True))
        names = [shards.entities[each] for each in entity.values()]
        unnamed = np.zeros(int(split.n_nodes[row]), bool)
        unnamed[[*entity]] = opaque_mask(names)
        question, topics = split.questions[row], np.asarray(split.topics[row])
        compared = value_question(question.text, question.topics)
        if compared is not None:
            node = {shards.entities[entity[n]]: n for n in entity}
            places = [node.get(name, -1) for name in question.topics]
            compared = compared.with_topics(places.__getitem__)
        found.append(
            question_constraints(
                question.text,
                question.topics,
                compared,
                LocalGraph(
                    [shards.relations[relation] for relation in relations.tolist()],
                    index,
                    nodes,
                    [np.array([topic]) for topic in np.unique(topics[topics >= 0])],
                    lambda nodes, entity=entity: [
                        shards.entities[entity[node]] for node in nodes.tolist()
                    ],
                    shards.relation_index,
                ),
                unnamed,
            )
        )
    return found
