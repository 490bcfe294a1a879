"""Software weaknesses, Python classes, and the creatures of a video game."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graph_sources.package_data import Edges, package_folder, read_csv
from kgscout_jax.utils.io import read_json

EXAMPLES_PER_WEAKNESS = 1


def weaknesses() -> Edges:
    """The Common Weakness Enumeration (dotted relations, as in Freebase)."""
    folder = next(iter(sorted(package_folder("cwe2").glob("database_*"))))
    rows = read_csv(folder / "navigate_cwe" / "1000.csv")
    names = {row["CWE-ID"]: row["Name"] for row in rows}
    edges = Edges()

    def values(row: dict[str, str], column: str, key: str) -> list[str]:
        """The values of a key in a cell ``::KEY:VALUE:KEY:VALUE::``."""
        found = re.findall(rf":{key}:(.+?)(?=:[A-Z][A-Z ]+:|::|$)", row[column] or "")
        return list(dict.fromkeys(found))

    for row in rows:
        name = row["Name"]
        level = f"{row['Weakness Abstraction'].lower()} weakness"
        edges.add(name, "security.weakness.abstraction_level", level)
        for kind, other in re.findall(
            r"NATURE:(\w+):CWE ID:(\d+):VIEW ID:1000\b", row["Related Weaknesses"]
        ):
            relation = {
                "ChildOf": "security.weakness.parent_weakness",
                "CanPrecede": "security.weakness.resulting_weakness",
                "PeerOf": "security.weakness.related_weakness",
                "Requires": "security.weakness.required_weakness",
            }.get(kind)
            if relation:
                edges.add(name, relation, names.get(other))
        platforms = row["Applicable Platforms"]
        languages = re.findall(r"LANGUAGE NAME:(.+?):", platforms)
        edges.add(name, "security.weakness.programming_language", *languages)
        technologies = re.findall(r"TECHNOLOGY (?:NAME|CLASS):(.+?):", platforms)
        technologies = [one for one in technologies if "Not Techn" not in one]
        edges.add(name, "security.weakness.affected_technology", *technologies)
        for column, key, relation in (
            ("Modes Of Introduction", "PHASE", "security.weakness.introduction_phase"),
            ("Common Consequences", "IMPACT", "security.weakness.technical_impact"),
            ("Common Consequences", "SCOPE", "security.weakness.threatens"),
            ("Detection Methods", "METHOD", "security.weakness.detection_method"),
            ("Alternate Terms", "TERM", "security.weakness.also_known_as"),
        ):
            edges.add(name, relation, *values(row, column, key)[:2])
        for column, relation in (
            ("Functional Areas", "security.weakness.functional_area"),
            ("Affected Resources", "security.weakness.affected_resource"),
        ):
            edges.add(name, relation, *filter(None, row[column].split("::")))
        examples = values(row, "Observed Examples", "REFERENCE")
        examples = examples[:EXAMPLES_PER_WEAKNESS]
        edges.add(name, "security.weakness.observed_vulnerability", *examples)
        for cve in examples:
            if match := re.fullmatch(r"CVE-(\d{4})-\d+", cve):
                edges.add(cve, "security.vulnerability.publication_year", match[1])
    return edges


METHODS_PER_CLASS = 6
PARAMETERS_PER_CLASS = 6


def classes() -> Edges:
    """Classes and functions of scikit-learn (dotted relations)."""
    folder = package_folder("sklearn", "scikit-learn")
    edges = Edges()
    definitions = list(_definitions(folder))
    public = Counter(node.name for _, node in definitions)
    for module, node in definitions:
        if public[node.name] > 1 or node.name.startswith("_"):
            continue
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        edges.add(node.name, f"python.{kind}.defined_in_module", module)
        edges.add(module, "python.module.parent_package", module.rsplit(".", 1)[0])
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
            edges.add(node.name, "python.class.base_class", *bases)
            functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            methods = [one.name for one in functions if not one.name.startswith("_")]
            edges.add(node.name, "python.class.method", *methods[:METHODS_PER_CLASS])
            for one in functions:
                if one.name == "__init__":
                    _add_parameters(edges, node.name, "python.class.parameter", one)
        else:
            _add_parameters(edges, node.name, "python.function.parameter", node)
        raised = {
            call.exc.func.id
            for call in ast.walk(node)
            if isinstance(call, ast.Raise)
            and isinstance(call.exc, ast.Call)
            and isinstance(call.exc.func, ast.Name)
        }
        edges.add(node.name, f"python.{kind}.raised_exception", *sorted(raised))
        called = {
            call.func.id
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }
        known = (one for one in sorted(called) if public[one] == 1 and one[0] != "_")
        edges.add(node.name, f"python.{kind}.calls", *known)
    return edges


def _definitions(folder: Path) -> Iterator[tuple[str, Any]]:
    """Module name and definition of each class and function at the top of a module."""
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        if {"tests", "externals", "conftest"} & set(parts):
            continue
        module = ".".join(part for part in parts if part != "__init__")
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield module, node


def _add_parameters(edges: Edges, name: str, relation: str, node: Any) -> None:
    arguments = [*node.args.args, *node.args.kwonlyargs]
    names = [one.arg for one in arguments if one.arg not in ("self", "X", "y")]
    edges.add(
        name, relation, *(f"{one} parameter" for one in names[:PARAMETERS_PER_CLASS])
    )


CREATURES = 251
"""National numbers up to this one."""
MOVES_PER_CREATURE = 10
TARGETS = {"normal": "one adjacent target", "self": "the user"}
TARGETS |= {"allAdjacentFoes": "all adjacent foes", "all": "the whole field"}


def creatures() -> Edges:
    """Pokemon, their moves and types (snake_case verbs)."""
    folder = package_folder("poke_env", "poke-env") / "data" / "static"
    creatures = read_json(folder / "pokedex" / "gen9pokedex.json")
    moves = read_json(folder / "moves" / "gen9moves.json")
    lessons = read_json(folder / "learnset.json")
    chart = read_json(folder / "typechart" / "gen9typechart.json")
    edges = Edges()
    learned: dict[str, None] = {}
    for key, record in creatures.items():
        if not 0 < record.get("num", 0) <= CREATURES or "baseSpecies" in record:
            continue
        name = record["name"]
        edges.add(name, "has_type", *(f"{one} type" for one in record["types"]))
        for slot, ability in record["abilities"].items():
            relation = "hidden_ability" if slot == "H" else "has_ability"
            edges.add(name, relation, f"{ability} ability")
        edges.add(name, "evolves_from_pokemon", record.get("prevo"))
        edges.add(name, "evolves_at_level", record.get("evoLevel"))
        edges.add(name, "evolves_with_item", record.get("evoItem"))
        groups = (f"{one} egg group" for one in record.get("eggGroups", []))
        edges.add(name, "belongs_to_egg_group", *groups)
        edges.add(name, "body_color", record.get("color"))
        edges.add(name, "weight_in_kilograms", record.get("weightkg"))
        edges.add(name, "base_speed", record["baseStats"]["spe"])
        lesson = lessons.get(key, {}).get("learnset", {})
        by_level = [
            one
            for one in sorted(lesson)
            if any(re.match(r"\dL", way) for way in lesson[one])
        ]
        for one in by_level[:MOVES_PER_CREATURE]:
            edges.add(name, "learns_move", f"{moves[one]['name']} (move)")
            learned[one] = None
    for one in learned:
        move, name = moves[one], f"{moves[one]['name']} (move)"
        edges.add(name, "move_type", f"{move['type']} type")
        edges.add(name, "damage_category", f"{move['category']} move")
        edges.add(name, "attack_target", TARGETS.get(move["target"]))
        if move["basePower"]:
            edges.add(name, "base_power", move["basePower"])
        if move.get("contestType"):
            edges.add(name, "contest_category", f"{move['contestType']} contest")
    _add_type_chart(edges, chart)
    return edges


def _add_type_chart(edges: Edges, chart: Any) -> None:
    """Add which type is weak or resistant to which."""
    relations = {1: "weak_against", 2: "resists", 3: "immune_to"}
    for defender, record in chart.items():
        for attacker, code in record["damageTaken"].items():
            if code in relations and attacker.lower() in chart:
                name = f"{defender.title()} type"
                edges.add(name, relations[code], f"{attacker} type")
