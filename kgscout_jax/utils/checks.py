"""Range checks of settings, in one wording."""

from __future__ import annotations

from kgscout_jax.errors import UserError


def check_at_least(least: float, prefix: str = "--", **values: float | None) -> None:
    """Raise UserError where a number is below ``least``; None is not checked.

    Args:
        least: the smallest value allowed.
        prefix: what stands before a name: "--" for a flag (``token_budget`` is then
            written ``--token-budget``), or the record that a field belongs to.
        **values: the numbers, by the names of their fields.
    """
    for name, value in values.items():
        if value is not None and not value >= least:  # also nan
            shown = name.replace("_", "-") if prefix == "--" else name
            raise UserError(
                f"{prefix}{shown}: found {value}, expected at least {least:g}"
            )


def check_both_or_neither(**values: object) -> None:
    """Raise UserError where one of two flags is given (not None) without the other."""
    provided = [name for name, value in values.items() if value is not None]
    missing = [name for name, value in values.items() if value is None]
    if provided and missing:
        raise UserError(
            f"--{provided[0]} without --{missing[0]}: expected both, or neither"
        )
