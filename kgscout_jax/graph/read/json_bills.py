"""Bills of materials of software as nodes and edges in the form of Neo4j's export.

    {"bomFormat": "CycloneDX", "components": [...], "dependencies": [...]}
    {"spdxVersion": "SPDX-2.3", "packages": [...], "relationships": [...]}

A component is a node, and so is a vulnerability that affects one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgscout_jax.graph.read.json_databases import neo4j_edge, neo4j_node

MARKS = ("bomFormat", "spdxVersion")
"""Fields by which a bill is known."""
_COMPONENT = (
    *("version", "publisher", "author", "description", "scope", "purl", "copyright"),
    "group",
)
_PACKAGE = {
    "versionInfo": "version",
    "supplier": "supplier",
    "originator": "originator",
    "licenseConcluded": "license",
    "licenseDeclared": "declared license",
    "downloadLocation": "download location",
    "summary": "summary",
    "description": "description",
    "homepage": "homepage",
}
_NOTHING = (None, "", "NOASSERTION", "NONE")
_MAKERS = ("Organization: ", "Person: ")


def bill_rows(bill: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The components of a bill, what they depend on, and what is known of them."""
    yield from _spdx(bill) if "spdxVersion" in bill else _cyclonedx(bill)


def _cyclonedx(bill: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    own = (bill.get("metadata") or {}).get("component")
    for component in [*([own] if own else []), *(bill.get("components") or ())]:
        facts = {name: component[name] for name in _COMPONENT if component.get(name)}
        supplier = (component.get("supplier") or {}).get("name")
        licenses = [*_licenses(component)]
        facts |= {"supplier": supplier} if supplier else {}
        facts |= {"license": licenses} if licenses else {}
        facts["name"] = component.get("name")
        id = component.get("bom-ref") or component.get("purl") or component.get("name")
        yield neo4j_node(id, [component.get("type") or "component"], facts)
    for row in bill.get("dependencies") or ():
        for target in row.get("dependsOn") or ():
            yield neo4j_edge({"id": row["ref"]}, "depends on", {"id": target})
    for flaw in bill.get("vulnerabilities") or ():
        ratings = flaw.get("ratings") or [{}]
        facts = {
            "name": flaw.get("id"),
            "severity": ratings[0].get("severity"),
            "score": ratings[0].get("score"),
            "source": (flaw.get("source") or {}).get("name"),
            **{
                name: flaw.get(name)
                for name in ("description", "recommendation", "published", "updated")
            },
            "state": (flaw.get("analysis") or {}).get("state"),
        }
        known = {name: each for name, each in facts.items() if each is not None}
        yield neo4j_node(flaw.get("id"), ["vulnerability"], known)
        for each in flaw.get("affects") or ():
            yield neo4j_edge({"id": flaw.get("id")}, "affects", {"id": each["ref"]})


def _licenses(component: Mapping[str, Any]) -> Iterator[str]:
    """The ids of licences, else their names, or an expression of several."""
    for each in component.get("licenses") or ():
        license = each.get("license") or {}
        if text := license.get("id") or license.get("name") or each.get("expression"):
            yield text


def _spdx(bill: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for package in bill.get("packages") or ():
        facts = {
            relation: package[name]
            for name, relation in _PACKAGE.items()
            if package.get(name) not in _NOTHING
        }
        for name in ("supplier", "originator"):
            for kind in _MAKERS:
                if name in facts:
                    facts[name] = facts[name].removeprefix(kind)
        facts["name"] = package.get("name")
        yield neo4j_node(package.get("SPDXID"), ["package"], facts)
    for row in bill.get("relationships") or ():
        relation = row["relationshipType"].replace("_", " ").lower()
        ends = row["spdxElementId"], row["relatedSpdxElement"]
        if not {*ends} & {"SPDXRef-DOCUMENT", *_NOTHING}:
            yield neo4j_edge({"id": ends[0]}, relation, {"id": ends[1]})
