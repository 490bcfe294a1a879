"""Documents on disk as plain text: text, Markdown, HTML, PDF.

Ranges of characters count in this plain text, which is stored beside the graph. For a
text file it is the file itself, with "\\n" for the line ends of other systems and
without a mark of the byte order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.markup import (
    PlainText,
    html_text,
    markdown_text,
    pdf_text,
    rst_text,
)


def _plain(data: bytes, name: str) -> PlainText:
    return PlainText(decoded(data, name))


READERS: dict[str, Callable[[bytes, str], PlainText]] = {
    ".txt": _plain,
    ".text": _plain,
    ".rst": lambda data, name: rst_text(decoded(data, name)),
    ".md": lambda data, name: markdown_text(decoded(data, name)),
    ".markdown": lambda data, name: markdown_text(decoded(data, name)),
    ".html": lambda data, name: html_text(decoded(data, name)),
    ".htm": lambda data, name: html_text(decoded(data, name)),
    ".xhtml": lambda data, name: html_text(decoded(data, name)),
    ".pdf": pdf_text,
}
"""Suffix -> the reader of such files."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentFile:
    """A document before it is read."""

    name: str
    """Its path below the folder that was given, with "/"."""
    path: Path

    def read(self) -> tuple[str, PlainText]:
        """(sha256 of the file, its plain text).

        Raises:
            UserError: it cannot be read.
        """
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise UserError(f"{self.path}: cannot be read ({error.strerror})") from None
        text = READERS[self.path.suffix.lower()](data, str(self.path))
        return hashlib.sha256(data).hexdigest(), text


def find_documents(paths: Sequence[Path]) -> tuple[list[DocumentFile], int]:
    """(the documents of folders and files by name, number of other files in folders).

    Hidden files and folders are left out.

    Raises:
        UserError: a path is missing or of an unknown kind, there are no documents, or
            two have the same name.
    """
    found: dict[str, DocumentFile] = {}
    others = 0
    for path in paths:
        if path.is_dir():
            files = [(file, file.relative_to(path)) for file in sorted(path.rglob("*"))]
        elif path.exists():
            if path.suffix.lower() not in READERS:
                raise UserError(f"{path}: expected one of {', '.join(READERS)}")
            files = [(path, Path(path.name))]
        else:
            raise UserError(f"{path}: no such file or folder")
        for file, relative in files:
            if not file.is_file() or any(p.startswith(".") for p in relative.parts):
                continue
            if file.suffix.lower() not in READERS:
                others += 1
                continue
            document = DocumentFile(name=relative.as_posix(), path=file)
            if (other := found.setdefault(document.name, document)) is not document:
                raise UserError(
                    f"{file}: named {document.name} like {other.path}; give the folder "
                    "above both"
                )
    if not found:
        places = ", ".join(map(str, paths))
        raise UserError(f"{places}: no documents, expected {', '.join(READERS)}")
    return [found[name] for name in sorted(found)], others


def decoded(data: bytes, name: str) -> str:
    """The text of a file: UTF-8, else UTF-16 with its mark.

    Raises:
        UserError: it is neither.
    """
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not UTF-8 text ({error.reason})") from None
    return re.sub("\r\n?", "\n", text) if "\r" in text else text
