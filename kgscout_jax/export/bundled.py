"""The policy that comes with the package: ``kgscout-base``, in ``export/base/``.

``folder_of`` is the one place that knows its name: every function that takes the folder
of a run or of an export asks it.
"""

from __future__ import annotations

from pathlib import Path

from kgscout_jax.errors import UserError

NAME = "kgscout-base"
FOLDER = Path(__file__).parent / "base"
"""The files of the bundled policy; ``recipes/base_bundle.py`` writes them."""


def folder_of(path: Path | str) -> Path:
    """The folder of a run or of an export; of the bundled policy by its name.

    Raises:
        UserError: it is the name of the bundled policy and of a folder here.
    """
    path = Path(path)
    if str(path) != NAME:
        return path
    if path.exists():
        raise UserError(
            f"{NAME}: the policy that comes with kgscout-jax, or the folder here? "
            f"{path.absolute()} names the folder; rename it to use the other by name"
        )
    return FOLDER


def identity_of(path: Path | str) -> str:
    """What files record of a run or an export, the same from every directory.

    Its absolute path; the name of the bundled policy, also for its folder and for the
    path that earlier versions recorded, its name behind the directory they ran in.
    """
    path = Path(path)
    is_folder = path.exists()
    if (path.name == NAME and not is_folder) or (is_folder and path.samefile(FOLDER)):
        return NAME
    return str(path.resolve())
