"""What the cells of tables of facts say, without the marks of those who wrote them."""

from __future__ import annotations

import ast
import re

from kgscout_jax.graph.read.day_cells import day_cell

NOTHING = frozenset(("-", "--", "–", "—", "?", "..", "...", "…", "n.d.", "n.a.", "n/d"))
"""Marks for a value that is not there."""
_FOOTNOTES = re.compile(r"(?:\s?\[(?:\d{1,3}|[a-z]|(?:note|nb) \d+)\])+$")
_DIRECTORY = re.compile(
    r"CN=((?:[^,;\\]|\\.)+),(?:CN|OU|DC|O)=(?:[^;|\\]|\\.)+", re.IGNORECASE
)
"""The address of an entry in a directory (LDAP)."""
_PAGE = re.compile(
    r"\s*\((?:https://(?:www\.)?notion\.(?:so|site)/|(?:\.\./)*[^\s()]*\.(?:md|csv)(?=\)))"
    r"[^\s()]*\)"
)
"""The address of a page behind its name, as Notion exports relations."""


def clean_cell(cell: str) -> str:
    """A cell without marks of footnotes and addresses of pages, an address in a
    directory as its name, and a day without its midnight; "" for a mark of nothing.

    >>> clean_cell("Camp Nou[b]"), clean_cell("–"), clean_cell("CN=Ann Lee,OU=IT,DC=x")
    ('Camp Nou', '', 'Ann Lee')
    """
    text = without_pages(cell.strip())
    if text in NOTHING:
        return ""
    if text.endswith("]"):
        text = _FOOTNOTES.sub("", text) or text
    if text[:3].upper() == "CN=" and (found := _DIRECTORY.fullmatch(text)):
        return found[1].replace("\\", "")
    return day_cell(text)


def without_addresses(text: str) -> str:
    """A text with the names of entries instead of their addresses in a directory, and
    of pages (Notion) without those behind them.

    >>> without_addresses("CN=Ann Lee,OU=IT,DC=x;CN=Bo,OU=IT,DC=x")
    'Ann Lee;Bo'
    >>> without_addresses("Bo (https://www.notion.so/Bo-1f7), Ann (../People/Ann.md)")
    'Bo, Ann'
    """
    text = without_pages(text)
    return _DIRECTORY.sub(r"\1", text) if text[:3].upper() == "CN=" else text


def without_pages(text: str) -> str:
    """A text without the addresses of pages behind their names (Notion)."""
    return _PAGE.sub("", text) if "(" in text else text


def listed_values(cell: str) -> list[str] | None:
    """The values of a list as Python or JSON writes it; None for another cell.

    >>> listed_values("['War', 'Drama']"), listed_values("[1]"), listed_values("a")
    (['War', 'Drama'], None, None)
    >>> listed_values("[{'id': 28, 'name': 'Action'}]")
    ['Action']
    """
    if not (cell.startswith(('["', "['", "[{")) and cell.endswith("]")):
        return [] if cell == "[]" else None
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    parts = [each.get("name") if isinstance(each, dict) else each for each in found]
    texts = [part for part in parts if isinstance(part, str)]
    return texts if len(texts) == len(parts) else None
