"""Compiled kernels run without a home, and are never taken from a folder that others may write."""

import os
import pwd
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import neardup
from neardup.kernels import cache

SOURCE = Path(neardup.__file__).parents[1]
WHERE = "from neardup.kernels import cache; print(cache.folder())"
KERNEL = """
import importlib, os, pkgutil
import numpy as np
import neardup.kernels
from neardup.kernels import cache
from neardup.kernels.text import _mix

for module in pkgutil.iter_modules(neardup.kernels.__path__, "neardup.kernels."):
    importlib.import_module(module.name)  # which says where each of its functions is kept, or raises
assert _mix(np.uint64(1)) != 1
print(cache.folder())
print("kept" if os.path.isdir(cache.folder()) and os.listdir(cache.folder()) else "nowhere")
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package without compiled kernels, which only root may write; and a path that everybody may pass."""
    copy = tmp_path / "lib"
    copy.mkdir(mode=0o755)
    for folder in (*tmp_path.parents, tmp_path):
        if folder.owner() == pwd.getpwuid(os.getuid()).pw_name and str(folder).startswith("/tmp/pytest"):
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    (copy / "neardup").mkdir()
    for file in (SOURCE / "neardup").iterdir():
        if file.name not in ("kernels", "__pycache__"):
            (copy / "neardup" / file.name).symlink_to(file)
    (copy / "neardup" / "kernels").mkdir()
    for file in (SOURCE / "neardup" / "kernels").iterdir():
        if file.name != "__pycache__":
            (copy / "neardup" / "kernels" / file.name).write_bytes(file.read_bytes())
    return copy


def started(package: Path, code: str, *, stranger: bool = False, **environment: str) -> tuple[str, str]:
    """Run code that imports the package; what it prints on stdout and on stderr.

    stranger: as the user nobody, who may read everything (the interpreter may be in a home), and write nothing.
    """
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-P", "-c", code]
    if stranger:
        reading = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *reading, *command]
    done = subprocess.run(command, env=own, capture_output=True, text=True, cwd="/", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


NOBODY = pwd.getpwnam("nobody").pw_uid
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def test_beside_the_kernels_where_that_is_ours(package):
    where, said = started(package, WHERE, HOME="/nonexistent")
    assert where == str(package / "neardup" / "kernels" / "__pycache__")
    assert said == ""


@needs_root
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_never_where_others_may_write(mode, package, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for folder in (package / "neardup" / "kernels" / "__pycache__", tmp_path / "shared"):
        folder.mkdir()
        folder.chmod(mode)
        if mode == 0o775:
            os.chown(folder, os.geteuid(), NOBODY)
    where, said = started(package, WHERE, HOME=str(home), NUMBA_CACHE_DIR=str(tmp_path / "shared"))
    if mode == 0o1777:  # a folder of our own in it is safe: only owners may rename there
        assert Path(where).parent == tmp_path / "shared"
        assert Path(where).stat().st_mode & 0o777 == 0o700
        return
    assert where.startswith(str(home / ".cache" / "neardup" / "kernels"))
    assert f"{tmp_path / 'shared'}: others may write here" in said
    assert f"{package}/neardup/kernels/__pycache__: others may write here" in said


@needs_root
def test_a_folder_of_another_user_is_not_used(package, tmp_path):
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    os.chown(other, 65534, 65534)
    where, _ = started(package, WHERE, HOME=str(tmp_path), NUMBA_CACHE_DIR=str(other))
    assert not where.startswith(str(other))


@needs_root
@pytest.mark.parametrize("home", ["/nonexistent", "", "/proc"])
def test_without_a_home_kernels_run_in_a_private_folder(home, package, tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    room.chmod(0o1777)
    environment = {"TMPDIR": str(room), **({"HOME": home} if home else {})}
    where, said = started(package, KERNEL, stranger=True, **environment)
    folder, kept = where.splitlines()
    assert kept == "kept"
    made = room / f"neardup-{NOBODY}"
    assert Path(folder).parent == made
    assert made.stat().st_mode & 0o777 == 0o700
    assert made.owner() == "nobody"
    assert said == ""
    planted = started(package, WHERE, stranger=True, **environment)[0]
    assert planted == folder, "the next process finds it again"
    made.chmod(0o777)
    where, said = started(package, WHERE, stranger=True, **environment)
    assert not where.startswith(str(made))
    assert "others may write here" in said
    assert not Path(where).exists(), "a temporary folder is deleted at the end"


@needs_root
def test_a_folder_that_was_planted_is_not_used(package, tmp_path):
    """Somebody made /tmp/neardup-UID before, or a link of that name."""
    room = tmp_path / "room"
    room.mkdir()
    room.chmod(0o1777)
    planted = room / f"neardup-{NOBODY}"
    planted.mkdir(mode=0o755)
    os.chown(planted, 1, 1)
    where, said = started(package, WHERE, stranger=True, TMPDIR=str(room), HOME="/nonexistent")
    assert not where.startswith(str(planted))
    assert "compiled in every process" in said


@needs_root
def test_where_nothing_can_be_written_kernels_are_compiled_and_kept_nowhere(package, tmp_path):
    code = f"import tempfile; tempfile._candidate_tempdir_list = lambda: ['/proc']\n{KERNEL}"
    where, said = started(package, code, stranger=True, HOME="/nonexistent")
    assert where.splitlines() == ["/dev/null/kernels", "nowhere"]
    assert "compiled in every process" in said


def test_functions_of_others_are_none_of_our_business():
    from numba import njit

    locator = cache.KernelCacheLocator.from_function(njit, __file__)
    assert locator is None
