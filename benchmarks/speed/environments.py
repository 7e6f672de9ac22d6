"""A virtual environment per peer, made on first use and again when its requirements change."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).parent / "peers"
ROOT = Path(__file__).parents[2]


class EnvironmentFailedError(RuntimeError):
    """A peer's environment could not be made; the message says why."""


def python_of(peer: str, work: Path, *, listed: Path = PEERS) -> Path:
    """The interpreter of `peer`'s environment, made from <peer>.txt in the folder `listed` if need be."""
    requirements = listed / f"{peer}.txt"
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    folder = work / "environments" / peer
    mark = folder / "made-from.sha256"
    interpreter = folder / "bin" / "python"
    if mark.exists() and mark.read_text() == wanted:
        return interpreter
    print(f"making the environment of {peer} …", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    _checked([sys.executable, "-m", "venv", str(folder)])
    _checked([str(interpreter), "-m", "pip", "install", "--quiet", "--requirement", str(requirements)])
    mark.write_text(wanted)
    return interpreter


def own(work: Path) -> Path:
    """The interpreter of an environment that holds neardup as it is now and what it needs, as a user would have it."""
    wanted = hashlib.sha256(sys.version.encode())
    for file in [ROOT / "pyproject.toml", *sorted((ROOT / "src").rglob("*.*"))]:
        if file.suffix in (".toml", ".py", ".npz"):
            wanted.update(file.read_bytes())
    folder = work / "environments" / "neardup"
    mark = folder / "made-from.sha256"
    interpreter = folder / "bin" / "python"
    if not (mark.exists() and mark.read_text() == wanted.hexdigest()):
        print("making the environment of neardup …", file=sys.stderr)
        if not interpreter.exists():
            _checked([sys.executable, "-m", "venv", str(folder)])
        _checked([str(interpreter), "-m", "pip", "install", "--quiet", f"{ROOT}[web]"])
        _checked([str(interpreter), "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", str(ROOT)])
        mark.write_text(wanted.hexdigest())
    return interpreter


def versions(interpreter: Path) -> dict[str, str]:
    """Every distribution of an environment, by name."""
    code = (
        "import importlib.metadata as m, json;"
        "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()}))"
    )
    answer = subprocess.run([str(interpreter), "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(answer.stdout)
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _checked(command: list[str]) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        reason = (answer.stderr or answer.stdout).strip().splitlines()[-1:]
        raise EnvironmentFailedError(" ".join(reason) or f"{command[2]} failed")
