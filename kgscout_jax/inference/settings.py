"""Settings of the commands that use an exported policy: retrieve, ask, push."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.export.bundled import NAME
from kgscout_jax.graph.file_settings import (
    FILE_OPTIONS,
    GraphFileSettings,
    NamedGraphs,
)
from kgscout_jax.pseudo.settings import DraftForm, check_threshold
from kgscout_jax.reason.selection import SelectionForm
from kgscout_jax.utils.checks import (
    LARGEST_K,
    check_at_least,
    check_at_most,
    check_both_or_neither,
    check_file_name,
    check_no_input,
)
from kgscout_jax.utils.engine_settings import EngineSettings

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.inference.selection import SelectionConfig

PolicyName = Annotated[
    tyro.conf.Positional[str | None],
    tyro.conf.arg(metavar="[POLICY]", help_behavior_hint="(default: kgscout-base)"),
]
"""The exported policy of a command; None for the bundled one."""
GraphPaths = Annotated[
    tuple[Path, ...],
    tyro.conf.arg(metavar="FILE|GRAPH ...", help_behavior_hint=""),
]
"""The graph of a command."""
DEFAULT_K = 100
"""Triplets of a question where no number is given, in every command and class."""
SELECTION = "k form target token_budget min_probability retriever"


@dataclass(frozen=True, kw_only=True)
class QuestionSettings(GraphFileSettings):
    """The policy, the graph and the selection of triplets, in every command alike."""

    policy: PolicyName = None
    """The exported policy: a folder, or owner/name on the Hugging Face hub. Without it
    kgscout-base, which comes with the package."""
    kg: GraphPaths = ()
    """Triplet files of one graph, a folder of them, or one GRAPH folder."""
    graphs: NamedGraphs = ()
    """Instead of --kg several graphs, asked as one: what stands in two of them is one
    entity, and each triplet names its graphs. A NAME that comes again has more
    files."""
    k: int = DEFAULT_K
    """Maximum triplets of a question."""
    form: Annotated[SelectionForm, tyro.conf.arg(aliases=["--forms"])] = "lines"
    """Triplets best first; or joined into paths from the topics, chain by chain; or
    best first with the paths to the policy's own answers among them."""
    target: float | None = None
    """Select the fewest triplets, at most --k, that hold an answer with this calibrated
    probability; needs a policy exported with --calibrate."""
    token_budget: int | None = None
    """Maximum tokens of a prompt with the selected triplets."""
    min_probability: float | None = None
    """Answer from this probability of the best answer on, guess below it. Default: as
    the policy was calibrated."""
    retriever: Literal[
        "scout", "cosine", "prize_triplets", "prize_paths", "prize_subgraph"
    ] = "scout"
    """What ranks: the policy, cosine, or prizes by the policy's logits (OKGQA)."""

    def __post_init__(self) -> None:
        if isinstance(self.kg, str | Path):  # one graph, from Python
            object.__setattr__(self, "kg", (Path(self.kg),))
        check_at_least(1, k=self.k)
        check_at_most(LARGEST_K, k=self.k)
        if bool(self.kg) == bool(self.graphs):
            found = "both" if self.kg else "neither"
            raise UserError(f"--kg, --graphs: found {found}, expected one of them")

    @property
    def graph_paths(self) -> tuple[Path, ...]:
        """The files and folders of --kg or --graphs."""
        return self.kg or tuple(Path(each.partition("=")[2]) for each in self.graphs)

    def open_graphs(self) -> KnowledgeGraph | dict[str, KnowledgeGraph]:
        """The graph, or several by name; raises UserError as ``open_graph`` does."""
        from kgscout_jax.graph.open_graph import open_graph, open_named_graphs

        if self.graphs:
            return open_named_graphs(self.graphs, self.read_options)
        return open_graph(self.kg, options=self.read_options)

    @property
    def selection(self) -> SelectionConfig:
        """Which triplets are selected; raises UserError for impossible values."""
        from kgscout_jax.inference.selection import SelectionConfig

        return SelectionConfig(
            target=self.target,
            form=self.form,
            token_budget=self.token_budget,
            min_probability=self.min_probability,
            retriever=self.retriever,
        )


@dataclass(frozen=True, kw_only=True)
class RetrieveSettings(QuestionSettings, EngineSettings):
    """Retrieve triplets for a file of questions; gold answers are not needed.

    Example: kgscout retrieve --kg GRAPH --questions q.jsonl --out out.jsonl

    The same command resumes an interrupted run. A question that fails becomes a line
    with the field error.
    """

    groups: ClassVar[dict[str, str]] = {
        "questions and results": "kg graphs questions out overwrite",
        "selection of triplets": SELECTION,
        "how files are read": FILE_OPTIONS,
        "speed": "batch_size embed",
        "processes": "engine workers ray_address",
    }
    questions: Path
    """JSON lines with id, question and optionally q_entity (a topic or a list of them);
    without q_entity the topics are linked, an empty list means none. Plain or .gz."""
    out: Path
    """File to write: a JSON line for each question, in the same order."""
    batch_size: int = 32
    """Questions per batch."""
    embed: Annotated[bool, tyro.conf.arg(name="embed")] = False
    """Embed all triplets first and store the embeddings in the GRAPH folder; otherwise
    only triplets that the questions need are embedded."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Replace an existing file, complete or not."""

    def __post_init__(self) -> None:
        super().__post_init__()
        EngineSettings.__post_init__(self)
        check_at_least(1, batch_size=self.batch_size)
        check_file_name(self.out, "--out")
        check_no_input(self.out, (self.questions, *self.graph_paths), "--out")


@dataclass(frozen=True, kw_only=True)
class AskSettings(QuestionSettings):
    """Answer questions from a graph and show the triplets behind each answer.

    Example: kgscout ask --kg my.csv "Who directed Heat?" --html heat.html

    Without a question it asks for one after the other, or reads one a line from a pipe.
    """

    groups: ClassVar[dict[str, str]] = {
        "question": "kg graphs topic",
        "what is shown": "json explain html",
        "selection of triplets": SELECTION,
        "a language model": "llm model key_env explore",
        "pseudo-graphs of the model": "pseudo verifier threshold entities",
        "how files are read": FILE_OPTIONS,
    }
    question: Annotated[
        tyro.conf.Positional[str | None],
        tyro.conf.arg(metavar="[QUESTION]", help_behavior_hint=""),
    ] = None
    """The question, in quotes; it may stand alone, without POLICY."""
    topic: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """An entity that the question is about; repeat the option for more. Default: topics
    are linked."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object a question, and nothing else."""
    explain: tyro.conf.FlagCreatePairsOff[bool] = False
    """Also say how it came about: what else the topics might be, how many triplets were
    considered, all triplets that were selected, the time of each step."""
    html: Path | None = None
    """Write a page that draws the selected triplets, of several questions the last."""
    llm: str | None = None
    """Base URL of an OpenAI-compatible server that answers too, with the version:
    http://127.0.0.1:8080/v1. Default: the policy alone, offline."""
    model: str | None = None
    """The model's name on the server."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the API key; local servers need none."""
    explore: Literal["vector", "kgscout"] | None = None
    """The model at --llm walks the graph step by step (Chain of Explorations): it
    plans, then chooses among 50 relations by vector, or among 5 by KG-Scout. --explain
    prints each step."""
    pseudo: DraftForm | None = None
    """The model at --llm writes what it guesses as a graph (PG&AKV), in Cypher or as
    triplets; the guess is verified in the graph, and answers follow from that alone."""
    verifier: Literal["vector", "kgscout"] = "vector"
    """--pseudo: what finds facts to verify with: cosine, or KG-Scout."""
    threshold: float = 0.7
    """--pseudo: the least mean cosine of an entity's facts."""
    entities: int = 10
    """--pseudo: the entities with most facts found (the paper's k)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.explore is not None and self.llm is None:
            raise UserError("--explore without --llm: expected a model that walks")
        if self.pseudo is not None and self.llm is None:
            raise UserError("--pseudo without --llm: expected a model that guesses")
        if self.pseudo is not None and self.explore is not None:
            raise UserError("--pseudo and --explore: expected one of the two")
        check_at_least(1, entities=self.entities)
        check_threshold(self.threshold)
        if self.question is None and self.policy is not None:
            alone = self.policy
            is_folder = alone != "" and Path(alone).is_dir()  # "" is the current one
            if alone != NAME and not is_folder:
                object.__setattr__(self, "question", alone)
                object.__setattr__(self, "policy", None)
        check_both_or_neither(llm=self.llm, model=self.model)
        check_file_name(self.html, "--html")
        check_no_input(self.html, self.graph_paths, "--html")


@dataclass(frozen=True, kw_only=True)
class PushSettings:
    """Copy an exported policy to the Hugging Face hub or to another folder.

    Example: kgscout push policy/ my-name/my-scout
    """

    policy: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="POLICY")]
    """Folder of the exported policy, or kgscout-base."""
    repo: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="REPO")]
    """owner/name on the hub (log in first: hf auth login), or a folder such as ./copy.
    """
    public: Annotated[bool, tyro.conf.arg(name="public")] = False
    """Make a new repository public."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Replace an exported policy in the folder."""
