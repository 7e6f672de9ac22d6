"""The output folder: which files in it a run wrote, and may therefore replace.

`OUT/work/written.json` lists them. A file is listed before it appears, so that a run that was killed knows its own.
"""

import json
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from neardup.atomic import appearing, draft_of
from neardup.errors import OutputError, WorkError
from neardup.untrusted import read_json, refuse_links, safe_name, safe_places

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
            names = set(read_json(self._list, list[str]))
        except (FileNotFoundError, NotADirectoryError):
            return set()
        except (ValueError, OSError) as error:
            raise WorkError(
                f"{self._list}: cannot be read ({error}). Nothing was deleted. Choose another folder."
            ) from error
        try:
            return {safe_name(name) for name in names}
        except ValueError as error:
            raise self._unsafe(error) from error

    def _unsafe(self, error: ValueError) -> WorkError:
        return WorkError(
            f"{self._list}: {error}. A run writes inside its folder alone, so somebody else wrote this list. Nothing "
            "was deleted. Choose another folder."
        )

    def foreign(self) -> list[str]:
        """Return the files that are where a run writes, and that the run of this folder did not write.

        A link is never of a run, whatever its list says: it may lead anywhere.
        """
        refuse_links(self.path / "work")
        ours = self.written()
        ours |= {draft_of(Path(name)).as_posix() for name in ours}
        return [name for name in self._files() if name not in ours or (self.path / name).is_symlink()]

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
        """Delete the files of these names, or in folders of these names, that the run wrote, and no other.

        All names are checked before the first file is deleted.
        """
        try:
            places = safe_places(self.path, (n for n in self.written() if n.partition("/")[0] in roots))
        except ValueError as error:
            raise self._unsafe(error) from error
        for place in places:
            _unlink(place)
            _unlink(draft_of(place))
        for root in roots:
            if (self.path / root).is_symlink():
                continue
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


def _unlink(place: Path) -> None:
    """Delete a file or a link, if there is one; a folder may have taken the place of a file, and stays."""
    try:
        if not stat.S_ISDIR(place.lstat().st_mode):
            place.unlink()
    except FileNotFoundError:
        pass


def listed(names: list[str]) -> str:
    """Return the first few of some names, for a message."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    shown = (name if name.isprintable() else repr(name) for name in names[:_SHOWN])
    return ", ".join(shown) + more
