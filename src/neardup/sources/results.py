"""Folders that hold the results of an earlier run: they are no input, for what was kept would be found twice."""

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable

from neardup.errors import InputError

_RESULTS = frozenset({"run.json", "removed.parquet", "groups.parquet"})
_PLAN = re.compile(rb'\s*\{\s*"recipe"')


def holds_results(folder: str) -> bool:
    """Whether a run wrote its results here, or began to: the files that each run leaves, or its plan."""
    if all(os.path.exists(os.path.join(folder, name)) for name in _RESULTS):  # of Spark's making, folders among them
        return True
    if os.path.isdir(os.path.join(folder, "work", "plan")) and os.path.isdir(os.path.join(folder, "kept")):
        return True
    plan = os.path.join(folder, "work", "plan.json")
    if not os.path.isfile(plan):
        return False
    if os.path.isdir(os.path.join(folder, "kept")):
        return True
    try:
        with open(plan, "rb") as file:
            return _PLAN.match(file.read(64)) is not None
    except OSError:
        return False


def refuse_results(folder: str) -> InputError:
    """Make the error for an input folder that a run wrote to."""
    kept = f"{folder.rstrip('/' + os.sep)}/kept"
    return InputError(f"{folder}: holds the results of an earlier run; name its folder kept ({kept}).")


def runs_among(paths: Iterable[str]) -> list[str]:
    """The folders far away that have results of an earlier run in them, told by all that is there."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, name = posixpath.split(path)
        names[folder].add(name)
        above, inside = posixpath.split(folder)
        if inside in _RESULTS:  # a folder of Spark's making
            names[above].add(inside)
    return [folder for folder, there in names.items() if there >= _RESULTS]
