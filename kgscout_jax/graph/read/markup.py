"""Streaming readers of GraphML and GEXF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.options import MAX_LINE, MAX_NAME, excerpt
from kgscout_jax.graph.read.streams import open_bytes

CHUNK_BYTES = 1 << 16
MAX_DEPTH = 200
"""Elements within each other."""

MARKUP = {".graphml": "graphml", ".gexf": "gexf"}
"""Suffix -> the root element."""


def markup_elements(path: Path, root: str) -> Iterator[Node | Edge]:
    """The nodes and edges of a GraphML or GEXF file in its order, streaming.

    A document type declaration is refused: entities could expand without end.

    Raises:
        UserError: (on iteration) the file is missing, damaged, not XML, has another
            root, or a text over the limits.
    """
    state = _GraphML(path) if root == "graphml" else _Gexf(path)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    state.connect(parser, root)
    size = 0
    with open_bytes(path) as handle:
        while True:
            chunk = handle.read(CHUNK_BYTES)
            size += len(chunk)
            try:
                parser.Parse(chunk, not chunk)
            except expat.ExpatError as error:
                raise UserError(
                    f"{path}:{error.lineno}: not valid XML "
                    f"({expat.ErrorString(error.code)})"
                ) from None
            except LookupError:
                raise UserError(f"{path}:1: an unknown encoding of XML") from None
            yield from state.elements
            state.elements.clear()
            if size - parser.CurrentByteIndex > MAX_LINE:
                raise UserError(
                    f"{path}:{parser.CurrentLineNumber}: a tag of more than "
                    f"{MAX_LINE:,} bytes"
                )
            if not chunk:
                return


class _Markup:
    """Handlers of the parser's events; ``elements`` collects what is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.elements: list[Node | Edge] = []
        self._open: list[tuple[str, int, dict[str, str], Attributes]] = []
        """Nodes and edges that are not complete: tag, line, XML attributes, data."""
        self._text: list[str] | None = None
        self._text_size = 0
        self._depth = 0

    def connect(self, parser: Any, root: str) -> None:
        """Set the handlers."""
        self._parser, self._root = parser, root
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path}:{self._parser.CurrentLineNumber}"

    def _doctype(self, *_: object) -> None:
        raise UserError(f"{self.where}: a document type declaration, expected none")

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text_size += len(text)
            if self._text_size > MAX_NAME:
                raise UserError(
                    f"{self.where}: a name of more than {MAX_NAME:,} characters"
                )
            self._text.append(text)

    def _begin_text(self) -> None:
        self._text, self._text_size = [], 0

    def _take_text(self) -> str:
        text = "".join(self._text or ()).strip()
        self._text = None
        return text

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        self._depth += 1
        if self._depth == 1 and tag != self._root:
            raise UserError(
                f"{self.where}: expected the element {self._root}, found "
                f"{excerpt(tag, 30)}"
            )
        if self._depth > MAX_DEPTH:
            raise UserError(f"{self.where}: more than {MAX_DEPTH} elements deep")
        if tag in ("node", "edge"):
            expected = ("id",) if tag == "node" else ("source", "target")
            for key in expected:
                if key not in attributes:
                    raise UserError(f"{self.where}: {tag} without the attribute {key}")
            line = self._parser.CurrentLineNumber
            self._open.append((tag, line, attributes, []))
        self.start(tag, attributes)

    def _end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        self._depth -= 1
        self.end(tag)
        if tag in ("node", "edge") and self._open:
            tag, line, attributes, data = self._open.pop()
            make = self.node if tag == "node" else self.edge
            self.elements.append(make(line, attributes, data))

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        raise NotImplementedError

    def end(self, tag: str) -> None:
        """An element ends."""
        raise NotImplementedError

    def node(self, line: int, attributes: dict[str, str], data: Attributes) -> Node:
        """A complete node."""
        raise NotImplementedError

    def edge(self, line: int, attributes: dict[str, str], data: Attributes) -> Edge:
        """A complete edge."""
        xml = [pair for pair in attributes.items() if pair[0] not in ENDS]
        return Edge(
            line, attributes["source"], attributes["target"], data + xml, INTERNAL
        )


ENDS = ("source", "target")
INTERNAL = ("id", "networkx_key", "directed", "sourceport", "targetport")
"""Attributes of edges that are no relation and no property."""
DIRECTIONS = ("directed", "undirected", "mutual")
"""What the type of an edge is in GEXF."""


class _GraphML(_Markup):
    """GraphML as networkx, Neo4j, Gephi and yEd write it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._keys: dict[tuple[str, str], str] = {}
        self._defaults: dict[str, Attributes] = {"node": [], "edge": []}
        self._key: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "key":
            self._key = attributes
            name = attributes.get("attr.name") or attributes.get("id", "")
            for what in self._kinds(attributes):
                self._keys[what, attributes.get("id", "")] = name
        elif tag == "data":
            self._key = attributes
            self._begin_text()
        elif tag in ("default", "NodeLabel", "EdgeLabel"):
            self._begin_text()

    def _kinds(self, key: dict[str, str]) -> list[str]:
        """Whether a key is of nodes or edges."""
        kind = key.get("for", "all")
        return [kind] if kind in ("node", "edge") else ["node", "edge"]

    def end(self, tag: str) -> None:
        if tag == "default":
            text = self._take_text()
            for what in self._kinds(self._key):
                name = self._keys.get((what, self._key.get("id", "")), "")
                self._defaults[what].append((name, text))
        elif tag in ("NodeLabel", "EdgeLabel") and self._open:  # of yEd
            self._open[-1][3].append(("label", self._take_text()))
        elif tag == "data" and self._open and self._text is not None:
            what, _, _, data = self._open[-1]
            key = self._key.get("key", "")
            data.append((self._keys.get((what, key), key), self._take_text()))

    def _with_defaults(self, what: str, data: Attributes) -> Attributes:
        present = {name for name, _ in data}
        return data + [d for d in self._defaults[what] if d[0] not in present]

    def node(self, line: int, attributes: dict[str, str], data: Attributes) -> Node:
        labels = [part for part in attributes.get("labels", "").split(":") if part]
        data = [pair for pair in data if not (labels and pair[0] == "labels")]
        xml = [pair for pair in attributes.items() if pair[0] in ("label", "name")]
        data = self._with_defaults("node", data)
        return Node(line, attributes["id"], data + xml, labels)

    def edge(self, line: int, attributes: dict[str, str], data: Attributes) -> Edge:
        return super().edge(line, attributes, self._with_defaults("edge", data))


class _Gexf(_Markup):
    """GEXF of any version, as Gephi and networkx write it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._class = "node"
        self._titles: dict[tuple[str, str], str] = {}
        self._defaults: dict[tuple[str, str], str] = {}
        self._id = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "attributes":
            self._class = attributes.get("class", "node")
        elif tag == "attribute":
            self._id = attributes.get("id", "")
            self._titles[self._class, self._id] = attributes.get("title") or self._id
        elif tag == "default":
            self._begin_text()
        elif tag == "attvalue" and self._open:
            what, _, _, data = self._open[-1]
            key = attributes.get("for", attributes.get("id", ""))
            name = self._titles.get((what, key), key)
            data.append((name, attributes.get("value", "")))

    def end(self, tag: str) -> None:
        if tag == "default":
            self._defaults[self._class, self._id] = self._take_text()

    def _with_defaults(self, what: str, data: Attributes) -> Attributes:
        present = {name for name, _ in data}
        missing = [
            (self._titles[key], value)
            for key, value in self._defaults.items()
            if key[0] == what and self._titles[key] not in present
        ]
        return data + missing

    def node(self, line: int, attributes: dict[str, str], data: Attributes) -> Node:
        data = self._with_defaults("node", data)
        # networkx repeats the id as the label.
        label = attributes.get("label", attributes["id"])
        named = [("label", label)] if label != attributes["id"] else []
        return Node(line, attributes["id"], data + named)

    def edge(self, line: int, attributes: dict[str, str], data: Attributes) -> Edge:
        # networkx writes an edge's own attribute "type" in the place of the direction.
        rest = {
            name: value
            for name, value in attributes.items()
            if name != "type" or value.lower() not in DIRECTIONS
        }
        return super().edge(line, rest, self._with_defaults("edge", data))
