"""Names of pictures, sounds and films as files, which few questions ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FILE = re.compile(
    r"\S\.(jpe?g|png|gif|svg|tiff?|webp|bmp|og[agv]|mp[34]|wav|flac|webm|mid)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(images?|pictures?|photos?|photographs?|files?|logos?|icons?|flags?|maps?|"
    r"thumbnails?|videos?|audio|sounds?|recordings?|depictions?|seals?|coats? of arms|"
    r"signatures?|anthems?|banners?)\b",
    re.IGNORECASE,
)


def media_files(names: Iterable[str]) -> list[bool]:
    """``is_media_file`` of each name."""
    return ["." in name and is_media_file(name) for name in names]


def is_media_file(name: str) -> bool:
    """Whether the name of an entity is that of such a file.

    >>> is_media_file("Amsterdam view.jpg"), is_media_file("Node.js")
    (True, False)
    """
    dot = name.rfind(".", -5)
    return dot > 0 and _FILE.fullmatch(name, dot - 1) is not None


def asks_for_media(question: str) -> bool:
    """Whether a question may ask for a file.

    >>> asks_for_media("Which image shows Rome?"), asks_for_media("Where is Rome?")
    (True, False)
    """
    return _ASKED.search(question) is not None
