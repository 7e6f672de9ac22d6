"""Numbers of bytes and of documents as people write them: 2GB, 500 MB, 1.6e9, 200_000."""

import re
from typing import Any

import click

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_WRITTEN = re.compile(r"([0-9][0-9_,]*\.?[0-9]*(?:e\+?[0-9]+)?)\s*([kmgtp]?)(i?b)?", re.IGNORECASE)


class Size(click.ParamType[int]):
    """A whole number from 1 on; of bytes also with a unit: powers of 1,000, or of 1,024 as in GiB."""

    name = "size"

    def __init__(self, *, of_bytes: bool) -> None:
        self._of_bytes = of_bytes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, int):
            return value
        found = _WRITTEN.fullmatch(str(value).strip())
        if found is None or (not self._of_bytes and (found[2] or found[3])):
            such = "2GB, 500MB or 2e9" if self._of_bytes else "200000, 200_000 or 1.6e9"
            self.fail(
                f"{value!r} is no number of {'bytes' if self._of_bytes else 'documents'}; write {such}.", param, ctx
            )
        unit = _UNITS[found[2].lower()]
        if found[2] and (found[3] or "").lower() == "ib":
            unit = 1024 ** (list(_UNITS).index(found[2].lower()))
        number = round(float(found[1].replace("_", "").replace(",", "")) * unit)
        if number < 1:
            self.fail(f"{value!r}: at least 1.", param, ctx)
        return number
