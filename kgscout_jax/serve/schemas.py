"""Requests, replies, and the checks of a request."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kgscout_jax.errors import UserError
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.settings import DEFAULT_K
from kgscout_jax.reason.prompts import BudgetTooSmall
from kgscout_jax.reason.selection import PromptSettings, check_token_budget
from kgscout_jax.serve.settings import MAX_NAME_CHARS, MAX_TOPICS, Limits

if TYPE_CHECKING:
    from kgscout_jax.export.load import Exported

MAX_INT = 2**31 - 1
Name = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARS)]


class RequestError(Exception):
    """A refused request: a line for its caller, and an HTTP status."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class QuestionRequest(BaseModel):
    """A question to a graph."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    question: str = Field(examples=["who directed Alien?"])
    k: int = Field(
        DEFAULT_K, ge=1, le=MAX_INT, description="The most triplets, as far as allowed."
    )
    topics: Annotated[list[Name], Field(max_length=MAX_TOPICS)] | None = Field(
        None, description="The question's entities; without, they are linked."
    )
    graph: Name | None = Field(
        None, description="One of the names in /healthz; without, the first of them."
    )
    form: Literal["lines", "paths", "answers"] | None = Field(
        None,
        description="The best; joined into paths; or with the paths to the answers "
        "among them. Without, as the service was started.",
    )
    target: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="The fewest triplets that hold an answer with this probability; "
        "of calibrated policies.",
    )
    token_budget: int | None = Field(
        None,
        ge=1,
        le=MAX_INT,
        description="The most triplets, up to k, that fit a prompt of so many tokens.",
    )
    triplet_format: Literal["arrays", "objects"] = Field(
        "arrays", description="[head, relation, tail, score], or objects of these."
    )
    text: bool = Field(
        False, description="Whether the reply has the triplets as text for a prompt."
    )


class AnswerRequest(QuestionRequest):
    """A question to answer."""

    stream: bool = Field(
        False,
        description="Whether the reply comes as server-sent events: evidence, then "
        "text as a model writes it, then answer.",
    )


class StatementRequest(BaseModel):
    """Statements to check against a graph."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    statement: str = Field(examples=["Alien was directed by Ridley Scott."])
    graph: Name | None = Field(
        None, description="One of the names in /healthz; without, the first of them."
    )


class ClaimReply(BaseModel):
    """A claim and what the graph says of it."""

    text: str
    verdict: Literal["supported", "contradicted", "unknown"]
    triplets: list[tuple[str, str, str]] = Field(description="Those that say so.")


class VerifyReply(BaseModel):
    """The verdict on each atomic claim of a statement."""

    graph: str
    claims: list[ClaimReply]
    seconds: float


class TopicLink(BaseModel):
    """A topic that was linked from the question's words."""

    name: str
    how: str
    score: float
    start: int = Field(description="Where in the question it begins.")
    stop: int


class GraphAnswer(BaseModel):
    """An answer from the graph itself."""

    name: str
    probability: float = Field(description="Calibrated P(answer).")
    path: list[tuple[str, str, str]] = Field(
        description="Triplets that lead from a topic to it, in order; [] for none."
    )


class TripletObject(BaseModel):
    """A triplet by the names of its parts."""

    head: str
    relation: str
    tail: str
    score: float


class RetrieveReply(BaseModel):
    """The triplets of a question, best first."""

    question: str
    graph: str
    topics: list[str] = Field(description="The entities that the search began at.")
    linked: list[TopicLink] = Field(description="[] where topics were given.")
    topics_not_found: list[str] = Field(
        [], description="Topics of the request that are not in the graph."
    )
    triplets: list[tuple[str, str, str, float]] | list[TripletObject] = Field(
        description="Highest score first, in the request's triplet_format."
    )
    sources: list[list[str]] = Field(
        [], description="The graphs of each triplet, of several asked as one."
    )
    text: str = Field(
        "", description="The triplets as text for a prompt, where it was asked for."
    )
    graph_answers: list[GraphAnswer] = Field(
        [], description="Most probable first; absent without an answer head."
    )
    kind: str = Field(
        "set",
        description="set: entities, count: their number, number: what their values "
        "give, yes_no: yes or no.",
    )
    support: list[GraphAnswer] = Field(
        [], description="The entities behind a count or a yes or no."
    )
    abstained: bool = Field(
        False, description="Whether no answer is probable enough, or no topic found."
    )
    best_guesses: list[GraphAnswer] = Field(
        [], description="The most probable answers where it abstains."
    )
    negation: str = Field(
        "", description="The word that negates the question: then there is no answer."
    )
    read_as: str = Field(
        "", description="The question as it was read, where words of it are misspelt."
    )
    nearest: bool = Field(
        False,
        description="Whether no topic was found and the triplets are the nearest ones "
        "by their vectors, with cosines as scores.",
    )
    seconds: float


class AnswerReply(RetrieveReply):
    """The answers to a question, and the triplets behind them."""

    answers: list[str] = Field(description="Best first; [] where none was found.")
    outcome: str = Field(
        description="graph, abstained or evidence_only; of a model how it was read."
    )
    reader: str = Field(description="graph, or the model's name.")
    why: str | None = Field(description="The path to the best, or the model's reply.")
    note: str = Field("", description="That the model's reply was cut, if it was.")


class EntityMatch(BaseModel):
    """An entity of a graph that a text may name."""

    name: str
    score: float = Field(
        description="How probably the text names it; of prefix and inside the share of "
        "the name that the text is."
    )
    how: str = Field(
        description="exact, normalised, alias; prefix or inside, where the name begins "
        "with the text or contains it; else fuzzy."
    )


class EntitiesReply(BaseModel):
    """The entities that a text may name: exactly, by a part, or nearly."""

    graph: str
    entities: list[EntityMatch]


class ErrorReply(BaseModel):
    """Why the request was refused or failed."""

    error: str


def check_text(name: str, text: str, limits: Limits) -> None:
    """Raise RequestError unless a question or a statement is text of a legal length."""
    if not text.strip():
        raise RequestError(422, f"{name}: found nothing, expected a {name}")
    try:
        text.encode()
    except UnicodeEncodeError:  # names are checked where their length is
        raise RequestError(422, f"{name}: not valid text") from None
    if len(text) > limits.max_question_chars:
        raise RequestError(
            422,
            f"{name}: found {len(text)} characters, expected at most "
            f"{limits.max_question_chars}",
        )


def check_request(request: QuestionRequest, limits: Limits) -> int:
    """The number of triplets to retrieve.

    Raises:
        RequestError: the request exceeds a limit, or is empty.
    """
    check_text("question", request.question, limits)
    if request.k > limits.max_k and "k" in request.model_fields_set:
        raise RequestError(
            422, f"k: found {request.k}, expected at most {limits.max_k}"
        )
    for topic in request.topics or ():
        if not topic.strip():
            raise RequestError(422, "topics: one is empty, expected names of entities")
    return min(request.k, limits.max_k)


def selection_of(
    request: QuestionRequest, default: SelectionConfig, exported: Exported
) -> SelectionConfig:
    """The selection that a request asks for.

    Raises:
        RequestError: the policy cannot select so, or the budget holds no triplet.
    """
    form = request.form or default.form
    if form == "answers" and not exported.has_answers:
        raise RequestError(422, "form: answers, of which this policy has none")
    try:
        check_token_budget(request.token_budget, PromptSettings(), "token_budget")
    except BudgetTooSmall as error:
        raise RequestError(422, str(error)) from None
    selection = dataclasses.replace(
        default, form=form, target=request.target, token_budget=request.token_budget
    )
    if selection.target is not None:
        try:
            selection.calibration(exported)
        except UserError:  # it names the server's folder
            raise RequestError(422, "target: this policy is not calibrated") from None
    return selection
