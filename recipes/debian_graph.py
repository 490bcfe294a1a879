"""A graph of Debian's packages, from the package index on this machine.

    apt-get update
    python recipes/debian_graph.py OUT.tsv [--index FILE] [--packages 2300]

No policy has learned from it: it shows what the policy in the package does with a graph
of its user's own. Selection, fixed by the index: the packages that every system has
(priority required, important or standard) and those of ``START``, then all that they
depend on or recommend, breadth first, until there are 2,300 packages. Decisions:

- The index is that of the release's main section, without updates and security fixes.
- Of alternatives (``a | b``) the first counts, which is what apt installs. A virtual
  package is an entity, and packages provide it.
- A source package is the entity of its name, as in the index: libcurl4 has the source
  package curl. That curl has, too, goes without saying.
- Other values that are called as a package (the section "php", the interface "daemon")
  say what they are, in brackets.

The index changes with Debian's point releases: the same index gives the same bytes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet, entity_key
from kgscout_jax.utils.io import write_lines

Package = Mapping[str, str]
"""The fields of a package, in the index's words."""

PACKAGES = 2_300
"""Packages of the graph."""
ON_EVERY_SYSTEM = ("required", "important", "standard")
START = """
    curl wget git vim emacs nano nginx apache2 postgresql mariadb-server sqlite3
    redis-server python3 perl ruby nodejs gcc g++ make cmake gdb valgrind
    openssh-server openssh-client rsync tmux screen htop ffmpeg imagemagick gimp
    inkscape vlc libreoffice-writer firefox-esr thunderbird chromium docker.io
    qemu-system-x86 ansible bash zsh fish apt dpkg systemd cups samba bind9 postfix
    dovecot-imapd exim4 tcpdump wireshark nmap r-base octave texlive pandoc graphviz
    python3-numpy python3-scipy python3-matplotlib php default-jdk golang rustc
    build-essential python3-django python3-flask python3-pandas jupyter-notebook maven
    ruby-rails podman prometheus blender audacity transmission-gtk hexchat kate
    evolution gnome-core xfce4 kde-plasma-desktop
""".split()
SECTIONS = {
    "admin": "administration utilities",
    "cli-mono": "Mono",
    "comm": "communication programs",
    "database": "databases",
    "debug": "debug packages",
    "devel": "development",
    "doc": "documentation",
    "editors": "editors",
    "gnu-r": "GNU R",
    "golang": "Go packages",
    "graphics": "graphics",
    "httpd": "web servers",
    "introspection": "introspection data",
    "java": "Java packages",
    "javascript": "JavaScript packages",
    "libdevel": "library development",
    "libs": "libraries",
    "math": "mathematics",
    "misc": "miscellaneous",
    "net": "network",
    "oldlibs": "old libraries",
    "otherosfs": "other operating systems",
    "perl": "Perl packages",
    "python": "Python packages",
    "ruby": "Ruby packages",
    "rust": "Rust packages",
    "tex": "TeX",
    "text": "text processing",
    "utils": "utilities",
    "vcs": "version control systems",
    "web": "web software",
    "x11": "X Window System software",
}
"""Section -> its title at packages.debian.org; others are titled by their name."""
LANGUAGES = {
    "c": "C",
    "c++": "C++",
    "c-sharp": "C#",
    "ecmascript": "JavaScript",
    "objc": "Objective-C",
    "ocaml": "OCaml",
    "php": "PHP",
    "r": "R",
    "shell": "shell script",
    "tcl": "Tcl",
}
INTERFACES = {
    "commandline": "command line",
    "text-mode": "text mode",
    "graphical": "graphical user interface",
    "x11": "X Window System",
}


def find_index() -> Path:
    """The package index that apt has downloaded.

    Raises:
        UserError: there is none.
    """
    try:
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(FILENAME)"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(
            f"apt-get indextargets: found {error}, expected Debian"
        ) from None
    for name in sorted(listed.split()):
        fits = re.search(r"_dists_(?!.*(?:-updates|-security|-backports)_)", name)
        if fits and "_main_binary-" in name and "_Packages" in name:
            return Path(name)
    raise UserError("package index: found none, expected one after: apt-get update")


def index_text(file: Path) -> str:
    """The text of an index, which apt may have compressed.

    Raises:
        UserError: the file cannot be read.
    """
    if file.suffix not in (".lz4", ".xz", ".gz"):
        return file.read_text("utf-8")
    command = ["/usr/lib/apt/apt-helper", "cat-file", str(file)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise UserError(f"{file}: apt-helper cannot read it")
    return done.stdout.decode("utf-8")


def read_index(file: Path) -> dict[str, Package]:
    """Name -> fields of each package; a second version of a package is left out.

    Raises:
        UserError: the file cannot be read.
    """
    text = index_text(file)
    packages: dict[str, Package] = {}
    for stanza in text.split("\n\n"):
        fields: dict[str, str] = {}
        for line in re.sub(r"\n[ \t]+", " ", stanza).splitlines():
            field, separator, value = line.partition(":")
            if separator:
                fields[field] = value.strip()
        if "Package" in fields:
            packages.setdefault(fields["Package"], fields)
    return packages


def selected_packages(packages: Mapping[str, Package], count: int) -> list[str]:
    """Names of the packages of the graph, in the order in which they are reached."""
    reached = dict.fromkeys(
        name
        for name, fields in packages.items()
        if fields.get("Priority") in ON_EVERY_SYSTEM
    )
    reached |= dict.fromkeys(name for name in START if name in packages)
    level = list(reached)
    while level and len(reached) < count:
        next_level = dict.fromkeys(
            other
            for name in level
            for field in ("Depends", "Recommends")
            for other in package_names(packages[name].get(field, ""))
            if other in packages and other not in reached
        )
        reached |= next_level
        level = list(next_level)
    return list(reached)[:count]


def package_names(field: str) -> list[str]:
    """The packages of a field such as ``a (>= 1), b | c:any``: here a and b."""
    names = (
        re.split(r"[ |(:\[]", part.strip(), maxsplit=1)[0] for part in field.split(",")
    )
    return list(dict.fromkeys(name for name in names if name))


def triplets_of(packages: Mapping[str, Package], count: int) -> Iterator[Triplet]:
    """The triplets of the selected packages, package by package.

    Args:
        packages: the whole index.
        count: packages to select.
    """
    names = selected_packages(packages, count)
    taken = {entity_key(name) for name in packages}

    def value(kind: str, name: str) -> str:
        """The name of a value, which is no package's."""
        return f"{name} ({kind})" if entity_key(name) in taken else name

    for name in names:
        fields = packages[name]
        source = fields.get("Source", name).split(" ")[0]
        section = fields.get("Section", "").split("/")[-1]
        tags = re.findall(r"([\w-]+)::([\w+:-]+)", fields.get("Tag", ""))
        facts: dict[str, list[str]] = {
            "depends on": package_names(fields.get("Depends", "")),
            "recommends": package_names(fields.get("Recommends", "")),
            "suggests": package_names(fields.get("Suggests", "")),
            "provides": package_names(fields.get("Provides", ""))[:5],
            "maintained by": [value("maintainer", maintainer(fields))],
            "section": [value("section", SECTIONS.get(section) or section)],
            "source package": [source],
            "homepage": [fields.get("Homepage", "")],
            "priority": [value("priority", fields.get("Priority", ""))],
            "version": [fields.get("Version", "")],
            "architecture": [value("architecture", fields.get("Architecture", ""))],
            "installed size in kilobytes": [fields.get("Installed-Size", "")],
            "description": [value("description", fields.get("Description", ""))],
            "implemented in": [
                value("language", LANGUAGES.get(tag) or tag.title())
                for facet, tag in tags
                if facet == "implemented-in"
            ],
            "user interface": [
                value("interface", INTERFACES.get(tag) or tag)
                for facet, tag in tags
                if facet == "interface"
            ],
            "used for": [value("use", tag) for facet, tag in tags if facet == "use"],
        }
        for relation, tails in facts.items():
            for tail in dict.fromkeys(tails):
                if tail and tail != name:
                    yield name, relation, " ".join(tail.split())


def maintainer(fields: Package) -> str:
    """The maintainer's name, without the address."""
    return re.sub(r"\s*<.*", "", fields.get("Maintainer", "")).strip('" ')


def main() -> None:
    """Write the graph."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--packages", type=int, default=PACKAGES)
    arguments = parser.parse_args()
    try:
        packages = read_index(arguments.index or find_index())
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    lines = ["\t".join(one) for one in triplets_of(packages, arguments.packages)]
    write_lines(arguments.out, lines)
    print(f"{arguments.out}: {len(lines):,} triplets")


if __name__ == "__main__":
    main()
