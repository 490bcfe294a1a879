"""Chemical elements, biological databases and chords."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from graph_sources.package_data import Edges, package_folder, read_table
from kgscout_jax.utils.io import read_json

LONG_LIVED = ("hour", "day", "year", "kyear", "Myear", "Gyear", "Tyear", "Pyear")
"""Units of the half-lives of the radioactive isotopes that are kept."""
LATTICES = {
    "BCC": "body-centered cubic",
    "FCC": "face-centered cubic",
    "HEX": "hexagonal",
    "DIA": "diamond cubic",
    "RHL": "rhombohedral",
    "TET": "tetragonal",
    "ORC": "orthorhombic",
    "SC": "simple cubic",
    "MCL": "monoclinic",
    "CUB": "cubic",
}
DECAYS = {
    "B-": ("beta minus decay", 1, 0),
    "B+": ("beta plus decay", -1, 0),
    "EC": ("electron capture", -1, 0),
    "A": ("alpha decay", -2, -4),
    "p": ("proton emission", -1, -1),
    "n": ("neutron emission", 0, -1),
    "2B-": ("double beta decay", 2, 0),
    "SF": ("spontaneous fission", None, None),
}
"""Decay mode -> its name, and the change in protons and nucleons."""


def elements() -> Edges:
    """Elements and their long-lived isotopes, with decays (snake_case relations)."""
    database = package_folder("mendeleev") / "elements.db"
    edges = Edges()
    names: dict[int, str] = {}
    rows = read_table(
        database,
        "select e.*, s.name as series, g.name as family from elements e "
        "left join series s on s.id = e.series_id "
        "left join groups g on g.group_id = e.group_id order by atomic_number",
    )
    for row in rows:
        name = names[row["atomic_number"]] = row["name"]
        edges.add(name, "chemical_symbol", row["symbol"])
        edges.add(name, "atomic_number", row["atomic_number"])
        edges.add(name, "period", f"period {row['period']}")
        edges.add(name, "element_category", (row["series"] or "").rstrip("s"))
        if row["group_id"]:
            edges.add(name, "group", f"group {row['group_id']}")
            edges.add(f"group {row['group_id']}", "group_name", row["family"])
        edges.add(name, "block", f"{row['block']}-block")
        edges.add(name, "crystal_structure", LATTICES.get(row["lattice_structure"]))
        for key in ("geochemical_class", "goldschmidt_class"):
            if row[key]:
                edges.add(name, key, f"{row[key]} element")
        edges.add(name, "density", row["density"])
        edges.add(name, "electronegativity", row["en_pauling"])
        edges.add(name, "price_per_kilogram", row["price_per_kg"])
        edges.add(name, "discovery_year", row["discovery_year"])
        places = re.split(r",| and |&|/", row["discovery_location"] or "")
        edges.add(name, "discovered_in_country", *places)
        edges.add(name, "discovered_by", *_people(row["discoverers"] or ""))
        for key, relation in (
            ("top_3_producers", "produced_in"),
            ("top_3_reserve_holders", "reserves_in"),
        ):
            places = re.findall(r"\d\)\s*([A-Z][A-Za-z ]*[a-z])", row[key] or "")
            edges.add(name, relation, *places)
    for row in read_table(
        database, "select * from phasetransitions where allotrope is null order by id"
    ):
        element = names[row["atomic_number"]]
        edges.add(element, "melting_point", row["melting_point"])
        edges.add(element, "boiling_point", row["boiling_point"])
    _add_isotopes(edges, database, names)
    return edges


def _people(text: str) -> list[str]:
    """Names of discoverers; statements without a person give none."""
    if "ancient" in text:
        return []
    parts = re.split(r",|&|;|\band\b|\bat\b|\bin\b", re.sub(r"\(.*?\)", "", text))
    people = (part.strip(" .") + "" for part in parts)
    return [one for one in people if re.fullmatch(r"([A-Z][\w.'-]* ?){2,5}", one)]


def _add_isotopes(edges: Edges, database: Any, names: Mapping[int, str]) -> None:
    units = ", ".join(f"'{unit}'" for unit in LONG_LIVED)
    kept = {
        row["id"]: row
        for row in read_table(
            database,
            "select * from isotopes where abundance is not null "
            f"or half_life_unit in ({units}) order by id",
        )
    }
    for row in kept.values():
        protons, nucleons = row["atomic_number"], row["mass_number"]
        name = f"{names[protons]}-{nucleons}"
        edges.add(name, "isotope_of", names[protons])
        edges.add(name, "observation_year", row["discovery_year"])
        if row["spin"]:
            edges.add(name, "nuclear_spin", f"spin {row['spin'].strip('()')}")
        edges.add(name, "natural_abundance_percent", row["abundance"])
        if row["half_life"]:
            edges.add(name, "half_life", f"{row['half_life']} {row['half_life_unit']}s")
    for row in read_table(database, "select * from isotopedecaymodes order by id"):
        isotope = kept.get(row["isotope_id"])
        if isotope is None or row["mode"] not in DECAYS or not row["intensity"]:
            continue
        mode, protons, nucleons = DECAYS[row["mode"]]
        name = f"{names[isotope['atomic_number']]}-{isotope['mass_number']}"
        edges.add(name, "decay_mode", mode)
        if protons is not None and isotope["atomic_number"] + protons in names:
            element = names[isotope["atomic_number"] + protons]
            product = f"{element}-{isotope['mass_number'] + nucleons}"
            edges.add(name, "decays_to", product)
            edges.add(product, "isotope_of", element)


def databases() -> Edges:
    """Biological databases and vocabularies, their people (camelCase relations)."""
    folder = package_folder("bioregistry") / "data"
    resources = read_json(folder / "bioregistry.json")
    registries = {
        one["prefix"]: resources.get(one["prefix"], {}).get("name")
        for one in read_json(folder / "metaregistry.json")["metaregistry"]
    }
    names = _resource_names(resources)
    edges = Edges()
    for prefix, record in resources.items():
        if prefix not in names:
            continue
        name = names[prefix]
        edges.add(name, "license", record.get("license"))
        edges.add(name, "contactPerson", (record.get("contact") or {}).get("name"))
        edges.add(name, "keyword", *record.get("keywords", [])[:5])
        edges.add(name, "servesRecordsOf", names.get(record.get("provides", "")))
        edges.add(
            name, "operatedBy", *(one["name"] for one in record.get("owners", []))
        )
        for key, relation in (
            ("depends_on", "dependsOnDatabase"),
            ("appears_in", "usedInDatabase"),
        ):
            others = record.get(key, []) + record.get("obofoundry", {}).get(key, [])
            edges.add(name, relation, *(names.get(other) for other in others))
        years = [
            one["year"] for one in record.get("publications", []) if one.get("year")
        ]
        edges.add(name, "firstPublicationYear", min(years, default=None))
        registered = [
            one for one in sorted(record.get("mappings", {})) if one in registries
        ]
        edges.add(name, "registeredIn", *(registries[one] for one in registered[:4]))
    for one in read_json(folder / "collections.json")["collections"]:
        for member in one["resources"]:
            prefix = member["prefix"] if isinstance(member, dict) else member
            edges.add(names.get(prefix), "collection", one["name"])
    return edges


def _resource_names(resources: Mapping[str, Any]) -> dict[str, str]:
    """Prefix -> name, of the resources that people describe: a contact or keywords."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for prefix, record in resources.items():
        name = record.get("name") or record.get("obofoundry", {}).get("name")
        described = record.get("contact") or record.get("keywords")
        if name and described and not record.get("deprecated"):
            if name.lower() in used:
                name = f"{name} ({prefix})"
            used.add(name.lower())
            names[prefix] = name
    return names


NOTES = ("C", "C sharp", "D", "E flat", "E", "F", "F sharp", "G", "A flat", "A")
NOTES = (*NOTES, "B flat", "B")
DEGREES = {"1": 0, "2": 2, "3": 4, "4": 5, "5": 7, "6": 9, "7": 11}
DEGREES |= {"9": 14, "11": 17, "13": 21}
CHORDS = {
    "": "major triad",
    "m": "minor triad",
    "dim": "diminished triad",
    "aug": "augmented triad",
    "sus2": "suspended second chord",
    "sus4": "suspended fourth chord",
    "5": "power chord",
    "6": "major sixth chord",
    "m6": "minor sixth chord",
    "7": "dominant seventh chord",
    "M7": "major seventh chord",
    "m7": "minor seventh chord",
    "mM7": "minor major seventh chord",
    "m7b5": "half-diminished seventh chord",
    "dim7": "diminished seventh chord",
    "7sus4": "seventh suspended fourth chord",
    "add9": "added ninth chord",
    "madd9": "minor added ninth chord",
    "9": "dominant ninth chord",
    "M9": "major ninth chord",
    "m9": "minor ninth chord",
    "69": "six nine chord",
    "7b9": "seventh flat ninth chord",
}
SCALES = {
    "major": ((0, 2, 4, 5, 7, 9, 11), ("", "m", "m", "", "", "m", "dim")),
    "natural minor": ((0, 2, 3, 5, 7, 8, 10), ("m", "dim", "", "m", "m", "", "")),
    "dorian": ((0, 2, 3, 5, 7, 9, 10), ("m", "m", "", "", "m", "dim", "")),
    "mixolydian": ((0, 2, 4, 5, 7, 9, 10), ("", "m", "dim", "", "m", "m", "")),
}
STEPS = ("TONIC", "SUPERTONIC", "MEDIANT", "SUBDOMINANT", "DOMINANT", "SUBMEDIANT")
STEPS = (*STEPS, "LEADING")


def chords() -> Edges:
    """Chords, scales and notes (UPPER_SNAKE relations, as Neo4j writes them)."""
    package_folder("pychord")
    from pychord.constants.qualities import DEFAULT_QUALITIES

    intervals: dict[str, tuple[str, ...]] = dict(DEFAULT_QUALITIES)
    edges = Edges()
    sounds: dict[frozenset[int], list[str]] = defaultdict(list)
    for root, note in enumerate(NOTES):
        for quality, kind in CHORDS.items():
            chord = f"{note} {kind}"
            pitches = [(root + _semitones(one)) % 12 for one in intervals[quality]]
            edges.add(chord, "ROOT_NOTE", f"{note} note")
            edges.add(chord, "CHORD_QUALITY", kind)
            edges.add(chord, "CONTAINS_NOTE", *(f"{NOTES[p]} note" for p in pitches))
            sounds[frozenset(pitches)].append(chord)
        for scale, (steps, triads) in SCALES.items():
            name = f"{note} {scale} scale"
            edges.add(name, "SCALE_TYPE", f"{scale} scale")
            for step, degree, triad in zip(steps, STEPS, triads, strict=True):
                tone = NOTES[(root + step) % 12]
                edges.add(name, f"{degree}_NOTE", f"{tone} note")
                edges.add(name, "CONTAINS_NOTE", f"{tone} note")
                edges.add(f"{tone} {CHORDS[triad]}", "OCCURS_IN_SCALE", name)
                if degree in ("TONIC", "DOMINANT", "SUBDOMINANT"):
                    edges.add(name, f"{degree}_CHORD", f"{tone} {CHORDS[triad]}")
        major = f"{note} major scale"
        edges.add(
            major, "RELATIVE_SCALE", f"{NOTES[(root + 9) % 12]} natural minor scale"
        )
        edges.add(major, "PARALLEL_SCALE", f"{note} natural minor scale")
        edges.add(major, "NEIGHBOUR_SCALE", f"{NOTES[(root + 7) % 12]} major scale")
    for equal in sounds.values():
        for chord in equal:
            edges.add(chord, "ENHARMONIC_WITH", *equal)
    for kind_quality, kind in CHORDS.items():
        edges.add(kind, "NUMBER_OF_NOTES", f"{len(intervals[kind_quality])} notes")
    return edges


def _semitones(interval: str) -> int:
    """Semitones above the root of an interval such as ``b3`` or ``#11``."""
    degree = interval.lstrip("b#")
    return DEGREES[degree] - interval.count("b") + interval.count("#")
