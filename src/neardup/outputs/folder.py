"""The output folder: which files in it a run wrote, and may therefore replace.

`OUT/work/written.json` lists them. A file is listed before it appears, so that a run that was killed knows its own.
"""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from neardup.atomic import appearing, draft_of
from neardup.errors import OutputError, WorkError

OUTPUTS = ("run.json", "removed.parquet", "groups.parquet", "skipped.parquet", "report.html", "kept")
"""What a run writes to its output folder, beside the folder `work`."""

_SHOWN = 5


class OutputFolder:
    """The folder that a run writes its results to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._list = path / "work" / "written.json"

    def written(self) -> set[str]:
        """Return the files that the run of this folder wrote or was about to write, relative to the folder."""
        try:
            return set(json.loads(self._list.read_text()))
        except (FileNotFoundError, NotADirectoryError):
            return set()
        except (ValueError, OSError) as error:
            raise WorkError(f"{self._list}: cannot be read ({error}). Choose another folder.") from error

    def foreign(self) -> list[str]:
        """Return the files that are where a run writes, and that the run of this folder did not write."""
        ours = self.written()
        ours |= {draft_of(Path(name)).as_posix() for name in ours}
        return [name for name in self._files() if name not in ours]

    def refuse_foreign(self) -> None:
        """Raise an error that names the files a run would replace without having written them."""
        foreign = self.foreign()
        if foreign:
            raise OutputError(
                f"{self.path} holds files that are not of this run: {listed(foreign)}. Choose another folder, or move "
                "them away."
            )

    def note(self, names: Iterable[str]) -> None:
        """Add files to the list of those that the run writes."""
        listed_before = self.written()
        together = listed_before | set(names)
        if together != listed_before:
            with appearing(self._list) as draft:
                draft.write_text(json.dumps(sorted(together)))

    def remove(self, *roots: str) -> None:
        """Delete the files of these names, or in folders of these names, that the run wrote, and no other."""
        for name in self.written():
            if name.partition("/")[0] in roots:
                (self.path / name).unlink(missing_ok=True)
                draft_of(self.path / name).unlink(missing_ok=True)
        for root in roots:
            for folder, _, _ in os.walk(self.path / root, topdown=False):
                if not any(os.scandir(folder)):
                    os.rmdir(folder)

    def clear(self) -> None:
        """Delete all that the run wrote, its work folder last."""
        self.remove(*OUTPUTS)
        shutil.rmtree(self.path / "work", ignore_errors=True)

    def _files(self) -> list[str]:
        found = []
        for name in OUTPUTS:
            place = self.path / name
            if place.is_symlink() or not place.is_dir():
                found += [name] if os.path.lexists(place) else []
                continue
            for folder, folders, names in os.walk(place):
                links = [each for each in folders if os.path.islink(os.path.join(folder, each))]
                found += [Path(folder, each).relative_to(self.path).as_posix() for each in (*names, *links)]
        return sorted(found)


def listed(names: list[str]) -> str:
    """Return the first few of some names, for a message."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    shown = (name if name.isprintable() else repr(name) for name in names[:_SHOWN])
    return ", ".join(shown) + more
