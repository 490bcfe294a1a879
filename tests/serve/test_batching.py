"""Batching: the same as alone, a bounded queue, one's failure is one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from serve.gated_scout import GatedScout

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.serve.batching import Batcher, QueueFull

GRAPH = KnowledgeGraph.from_triplets([("a", "b", "c")])
OTHER = KnowledgeGraph.from_triplets([("d", "e", "f")])


def with_batcher(
    work: Callable[[Batcher, GatedScout], Awaitable[Any]], **settings: Any
) -> Any:
    """What ``work`` gives with a batcher that runs."""

    async def whole():
        scout = GatedScout()
        known = {"max_batch": 4, "wait": 0.02, "max_queue": 8} | settings
        batcher = Batcher(scout, **known)  # type: ignore[arg-type]
        batcher.start()
        try:
            return await asyncio.wait_for(work(batcher, scout), 120)
        finally:
            scout.gate.set()
            await batcher.close()

    return asyncio.run(whole())


def same(found, expected) -> bool:
    return found.triplets == expected.triplets and np.array_equal(
        found.scores, expected.scores
    )


async def entered(scout: GatedScout) -> None:
    """Wait until a batch is being worked on."""
    assert await asyncio.to_thread(scout.entered.wait, 10)
    scout.entered.clear()


def test_each_gets_what_it_would_get_alone_in_few_batches():
    sizes: list[int] = []

    async def work(batcher, scout):
        asked = [(f"q{i} one two three", GRAPH if i % 3 else OTHER) for i in range(8)]
        found = await asyncio.gather(
            *(batcher.retrieve(q, g, 1 + i % 4) for i, (q, g) in enumerate(asked))
        )
        for i, ((question, _), each) in enumerate(zip(asked, found, strict=True)):
            assert same(each, scout.alone(question, 1 + i % 4))
            assert len(each.relation_match) == len(each) == 1 + i % 4
        assert [len(batch) for batch in scout.batches] == [4, 4] == sizes
        assert [q for batch in scout.batches for q in batch] == [q for q, _ in asked]

    with_batcher(work, on_batch=sizes.append)


def test_two_scouts_share_what_waits():
    async def work(batcher, scout):
        scout.gate.clear()
        asked = [batcher.retrieve(f"q{i}", GRAPH, 1) for i in range(6)]
        replies = asyncio.gather(*asked)
        async with asyncio.timeout(10):
            while len(scout.batches) < 2:
                await asyncio.sleep(0.01)
        assert sorted(map(len, scout.batches)) == [3, 3]
        scout.gate.set()
        assert [each.question for each in await replies] == [f"q{i}" for i in range(6)]

    with_batcher(work, max_batch=8, at_once=2)


def test_a_single_question_waits_no_longer_than_the_batch_wait():
    async def work(batcher, scout):
        loop = asyncio.get_running_loop()
        before = loop.time()
        await batcher.retrieve("q", GRAPH, 1)
        assert loop.time() - before < 5

    with_batcher(work, wait=0.01)


def test_a_full_queue_refuses_and_serves_again():
    async def work(batcher, scout):
        scout.gate.clear()
        held = [asyncio.create_task(batcher.retrieve("held", GRAPH, 1))]
        await entered(scout)
        held += [
            asyncio.create_task(batcher.retrieve(f"w{i}", GRAPH, 1)) for i in range(3)
        ]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await batcher.retrieve("one too many", GRAPH, 1)
        scout.gate.set()
        found = await asyncio.gather(*held)
        assert [each.question for each in found] == ["held", "w0", "w1", "w2"]
        assert (await batcher.retrieve("again", GRAPH, 1)).question == "again"

    with_batcher(work, max_queue=3, max_batch=1)


def test_a_question_that_fails_fails_alone():
    async def work(batcher, scout):
        questions = ["a", "poison", "b"]
        found = await asyncio.gather(
            *(batcher.retrieve(q, GRAPH, 1) for q in questions), return_exceptions=True
        )
        assert isinstance(found[1], ZeroDivisionError)
        assert [each.question for each in (found[0], found[2])] == ["a", "b"]
        assert (await batcher.retrieve("after", GRAPH, 1)).question == "after"

    with_batcher(work)


def test_a_cancelled_question_leaves_the_queue():
    async def work(batcher, scout):
        scout.gate.clear()
        held = asyncio.create_task(batcher.retrieve("held", GRAPH, 1))
        await entered(scout)
        gone = asyncio.create_task(batcher.retrieve("gone", GRAPH, 1))
        await asyncio.sleep(0)
        assert len(batcher) == 1
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert len(batcher) == 0
        held.cancel()  # while it is being scored
        after = asyncio.create_task(batcher.retrieve("after", GRAPH, 1))
        await asyncio.sleep(0)
        scout.gate.set()
        assert (await after).question == "after"
        assert scout.batches == [["held"], ["after"]]

    with_batcher(work, max_queue=1)


def test_closing_finishes_what_waits_and_takes_nothing_on():
    async def work(batcher, scout):
        scout.gate.clear()
        waiting = [
            asyncio.create_task(batcher.retrieve(f"q{i}", GRAPH, 1)) for i in range(6)
        ]
        await entered(scout)
        closing = asyncio.create_task(batcher.close())
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await batcher.retrieve("late", GRAPH, 1)
        scout.gate.set()
        found = await asyncio.gather(*waiting)
        assert [each.question for each in found] == [f"q{i}" for i in range(6)]
        await closing

    with_batcher(work, wait=30)  # nor does it wait for a batch to fill
