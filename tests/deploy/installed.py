"""An installation as the image and the unit have it: a wheel in /opt/neardup, of a file system that nobody may write.

bubblewrap shows it to a process: `/` read-only, /opt/neardup from a temporary folder, a tmpfs in /tmp, /data to write.
Where the tests run as root the process is another user, without capabilities and without a way to get any.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = "/opt/neardup"
USER = 10001
KERNELS = f"{HOME}/kernels"


@dataclass(frozen=True)
class Installation:
    """Folders that stand for /opt/neardup and /data."""

    home: Path
    data: Path

    def command(
        self, *arguments: str, environment: Mapping[str, str] | None = None, writable: bool = False
    ) -> list[str]:
        """The command that runs `arguments` in there; `writable`: as the one who installs."""
        needed = {sys.prefix, sys.base_prefix}  # Python itself and the libraries, which may lie in /tmp, /root or /home
        view = [
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/opt",
            "--perms",
            "1777",
            "--tmpfs",
            "/tmp",
        ]
        view += ["--tmpfs", "/root", "--tmpfs", "/home"]
        for path in sorted(needed):
            for parent in reversed(Path(path).parents[:-1]):
                view += ["--perms", "0755", "--dir", str(parent)]
            view += ["--ro-bind", path, path]
        view += ["--bind" if writable else "--ro-bind", str(self.home), HOME, "--tmpfs", "/srv"]
        view += ["--bind", str(self.data), "/srv/data", "--chdir", "/srv/data"]
        view += ["--remount-ro", "/opt", "--remount-ro", "/root", "--remount-ro", "/home", "--remount-ro", "/srv"]
        settings = {"PATH": f"{HOME}/bin:/usr/bin:/bin", **(environment or {})}
        view += ["--clearenv", *(part for name, value in settings.items() for part in ("--setenv", name, value))]
        view += ["--unshare-pid", "--unshare-ipc", "--die-with-parent"]
        other = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"]
        other += ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
        return ["bwrap", *view, "--", *(other if os.getuid() == 0 and not writable else []), *arguments]

    def run(self, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run to the end, without an error."""
        done = subprocess.run(self.command(*arguments, **options), capture_output=True, text=True)  # type: ignore[arg-type]
        assert done.returncode == 0, done.stderr
        return done


def install(folder: Path) -> Installation:
    """Build the wheel, install it into an empty environment beside the libraries of the tests, and warm its kernels."""
    made = Installation(folder / "home", folder / "data")
    for part in (made.home, made.data):
        part.mkdir(parents=True)
        part.chmod(0o755)
    if os.getuid() == 0:
        os.chown(made.data, USER, USER)
    made.run(sys.executable, "-m", "venv", "--without-pip", HOME, writable=True)
    wheels = folder / "wheels"
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)], cwd=ROOT, capture_output=True
    )
    assert built.returncode == 0, built.stderr
    [packages] = made.home.glob("lib/python*/site-packages")
    _unpacked(next(wheels.glob("*.whl")), packages)
    [libraries] = {path for path in sys.path if path.endswith("site-packages") and path.startswith(sys.prefix)}
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    script = made.home / "bin/neardup"
    script.write_text(f"#!{HOME}/bin/python\nfrom neardup.cli import main\nmain()\n")
    start = made.home / "bin/start"
    start.write_bytes((ROOT / "deploy/start.sh").read_bytes())
    for program in (script, start):
        program.chmod(0o755)
    _take_compiled(made)
    made.run("neardup", "warm", "stream", "-q", environment={"NUMBA_CACHE_DIR": KERNELS}, writable=True)
    return made


def _unpacked(wheel: Path, into: Path) -> None:
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(into)], check=True)


def _take_compiled(made: Installation) -> None:
    """Take over what the tests have compiled already, or this would take minutes: the sources are the same.

    numba looks for it in a folder that is named after the place of the source.
    """
    from numba.core.caching import UserProvidedCacheLocator

    [source] = made.home.glob("lib/python*/site-packages/neardup/kernels/__init__.py")
    place = UserProvidedCacheLocator.get_suitable_cache_subpath(f"{HOME}/{source.relative_to(made.home)}")
    into = made.home / "kernels" / place
    into.mkdir(parents=True)
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or ROOT / "src/neardup/kernels/__pycache__")
    for path in cache.rglob("*.nb[ic]"):
        (into / path.name).write_bytes(path.read_bytes())


def directives(unit: str, name: str) -> Sequence[str]:
    """The values that a unit file gives to a name, in their order."""
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{name}=")]
