"""Imports go one way, as the table of docs/architecture.md says; files stay small."""

from __future__ import annotations

import ast
import builtins
import graphlib
import re
import symtable
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `(\w+)` \|.*\|([^|]*)\|$", re.MULTILINE)


RENAMED = {
    "llama_index_core": "llama_index",
    "orbax_checkpoint": "orbax",
    "pcst_fast2": "pcst_fast",
    "pyspellchecker": "spellchecker",
}
"""Package -> the module it installs, where the names differ."""
PARTS = {
    "anyio": "mcp",
    "h11": "uvicorn",
    "markupsafe": "jinja2",
    "mcp_types": "mcp",
    "pydantic": "fastapi",
    "pydantic_core": "langchain_core",
    "redis": "falkordb",
    "starlette": "fastapi",
    "torch": "sentence_transformers",
    "transformers": "sentence_transformers",
}
"""Module -> the declared library whose interface it is a part of."""
USERS_OWN = ("pandas",)
"""Modules of objects that callers hand in."""


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(
        ".__init__"
    )


FILES = {
    module_of(file): file
    for package in ("kgscout_jax", "data_prep")
    for file in sorted((ROOT / package).rglob("*.py"))
}


def room_of(module: str) -> str:
    """The package under ``kgscout_jax``; "" is its front door, which names others."""
    if module in ("data_prep.__main__", "kgscout_jax.__main__"):
        return "cli"
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "kgscout_jax" else first


def imports(node: ast.AST) -> Iterator[str]:
    """Modules of ours that a file imports, at the top or within functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            whole = [f"{child.module}.{alias.name}" for alias in child.names]
            names = [name if name in FILES else child.module or "" for name in whole]
        else:
            yield from imports(child)
            continue
        yield from (name for name in names if name in FILES)


@cache
def arrows() -> dict[str, set[str]]:
    """Module -> the modules that it imports."""
    return {
        module: set(imports(ast.parse(file.read_text("utf-8")))) - {module}
        for module, file in FILES.items()
    }


def table() -> dict[str, set[str]]:
    """Room -> the rooms that it may import, in the page's order."""
    rooms: dict[str, set[str]] = {}
    for room, text in ROW.findall((ROOT / "docs/architecture.md").read_text("utf-8")):
        above = set(rooms)
        rooms[room] = above if "all" in text else set(re.findall(r"`(\w+)`", text))
        assert rooms[room] <= above, f"{room}: imports a room that stands below it"
    return rooms


def test_no_modules_import_each_other():
    graphlib.TopologicalSorter(arrows()).prepare()


def test_rooms_import_what_the_page_says_and_nothing_else():
    rooms = table()
    assert set(rooms) == {room_of(module) for module in FILES} - {""}
    wrong = [
        f"{module} imports {target}"
        for module, targets in arrows().items()
        for target in sorted(targets)
        if "" not in (room_of(module), room_of(target))
        and room_of(target) not in {room_of(module), *rooms[room_of(module)]}
    ]
    assert not wrong, "\n".join(wrong)


def test_the_page_names_no_import_that_is_gone():
    used = {room: set() for room in table()}
    for module, targets in arrows().items():
        if room := room_of(module):
            used[room] |= {room_of(target) for target in targets}
    for room, allowed in table().items():
        assert room == "cli" or not allowed - used[room], room


def test_sentence_transformers_is_imported_by_the_encoders_alone():
    users = {
        room_of(module)
        for module, file in FILES.items()
        if re.search("(import|from) sentence_transformers", file.read_text("utf-8"))
    }
    assert users == {"text"}


def test_imported_libraries_are_declared():
    """A library that another one happens to bring may be gone with its next version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = project["dependencies"] + [
        line for name in set(extras) - {"dev", "docs"} for line in extras[name]
    ]
    declared = {re.match(r"[\w.-]+", line)[0].replace("-", "_") for line in listed}
    assert set(PARTS.values()) <= declared
    modules = {RENAMED.get(name, name) for name in declared} | set(PARTS)
    imported = {
        (alias.name if isinstance(node, ast.Import) else node.module).partition(".")[0]
        for file in FILES.values()
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    ours = {"kgscout_jax", "data_prep", *USERS_OWN}
    assert not imported - modules - ours - sys.stdlib_module_names


def undefined_names(scope: symtable.SymbolTable, known: set[str]) -> set[str]:
    """Names that code reads and nothing defines; annotations are left out."""
    read = {
        each.get_name()
        for each in scope.get_symbols()
        if each.is_referenced() and (each.is_global() or scope.get_type() == "module")
    }
    return (read - known).union(
        *(undefined_names(inner, known) for inner in scope.get_children())
    )


def test_every_name_is_defined():
    """Shapes in annotations keep the linter and the type checker from seeing this."""
    wrong = {}
    for place in ("kgscout_jax", "data_prep", "tests", "benchmarks", "recipes"):
        for file in (ROOT / place).rglob("*.py"):
            module = symtable.symtable(file.read_text("utf-8"), str(file), "exec")
            known = {
                each.get_name() for each in module.get_symbols() if each.is_assigned()
            } | {each.get_name() for each in module.get_symbols() if each.is_imported()}
            known |= {"__file__", "__name__", "__doc__", "__path__", *dir(builtins)}
            if names := undefined_names(module, known):
                wrong[str(file.relative_to(ROOT))] = names
    assert not wrong


def test_at_most_three_modules_stand_at_the_top():
    modules = {file.name for file in (ROOT / "kgscout_jax").glob("*.py")}
    assert len(modules - {"__init__.py"}) <= 3


def test_no_file_is_larger_than_a_megabyte():
    for place in ("kgscout_jax", "data_prep", "tests", "docs", "recipes", "benchmarks"):
        for file in (ROOT / place).rglob("*"):
            assert not file.is_file() or file.stat().st_size < 1_000_000, file
