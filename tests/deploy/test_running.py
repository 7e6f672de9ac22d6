"""What the image and the unit start answers, compiles nothing, and writes nowhere but where it may."""

import json
import os
import re
import secrets
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.deploy.installed import HOME, KERNELS, ROOT, USER, Installation, directives
from tests.service.serving import Service, fresh

CONTAINERFILE = (ROOT / "deploy/Containerfile").read_text()
UNIT = (ROOT / "deploy/neardup.service").read_text()
pytestmark = pytest.mark.xdist_group("deploy")


class Started(Service):
    """A service in there."""

    def __init__(self, command: list[str], token: str) -> None:
        self._begin(command)
        self.http.headers["Authorization"] = f"Bearer {token}"

    def stop(self, how: int = signal.SIGTERM) -> str:
        """End it as systemd and container engines do, which signal the service and not what stands around it."""
        self.http.close()
        inner = self.process.pid
        while Path(f"/proc/{inner}/comm").read_text().strip() == "bwrap":
            inner = int(Path(f"/proc/{inner}/task/{inner}/children").read_text().split()[0])
        os.kill(inner, how)
        said = self.process.communicate(timeout=60)[1]
        assert self.process.returncode == 0, said
        return str(said)


def _token(data: Path, owner: int) -> str:
    made = secrets.token_hex(32)
    path = data / "write-token"
    path.write_text(made)
    path.chmod(0o400)
    if os.getuid() == 0:
        os.chown(path, owner, owner)
    return made


def _use(service: Service) -> None:
    """Ask for everything that has kernels, that starts a process or that writes."""
    text = fresh()
    assert service.post("check-and-add", {"id": "a", "text": text}).json()["added"] is True
    assert service.post("check", {"text": text}).json()["status"] == "duplicate"
    assert service.post("check", {"html": f"<p>{text}</p>"}).json()["status"] == "duplicate"
    assert service.post("similar", {"text": text}).json()["matches"]
    sides = {"first": {"text": text}, "second": {"text": text}, "systems": True}
    assert service.post("compare", sides).json()["identical"] is True
    assert service.post("group", {"results": [{"id": "a", "text": text}]}).status_code == 200
    assert service.http.get("/compare").status_code == 200
    assert service.http.get("/readyz").json() == {"status": "ready"}


def test_the_image_starts_warm_and_read_only(installation: Installation) -> None:
    token = _token(installation.data, USER)
    [command] = re.findall(r"^CMD (\[.*\])$", CONTAINERFILE, re.M)
    [entry] = re.findall(r"^ENTRYPOINT (\[.*\])$", CONTAINERFILE, re.M)
    given = [part.replace("/data/", "/srv/data/") for part in json.loads(command)]
    given[given.index("--write-token-file") + 1] = "/srv/data/write-token"
    started = Started(
        installation.command(
            *json.loads(entry),
            *given,
            *("--host", "127.0.0.1", "--port", "0"),
            environment={"NUMBA_CACHE_DIR": "/tmp/kernels", "XDG_CACHE_HOME": "/tmp/cache", "HOME": "/nonexistent"},
        ),
        token,
    )
    try:
        _use(started)
    finally:
        said = started.stop()
    _fine(said)
    assert {path.name for path in installation.data.iterdir()} >= {"seen.ndx", "write-token"}


def test_the_unit_starts_under_its_own_filter_of_system_calls(installation: Installation) -> None:
    token = _token(installation.data, USER)
    [line] = directives(UNIT, "ExecStart")
    values = {
        "${STATE_DIRECTORY}/seen.ndx": "/srv/data/unit.ndx",
        "${CREDENTIALS_DIRECTORY}/write-token": "/srv/data/write-token",
        "$NEARDUP_OPTIONS": "--port 0",
    }
    for name, value in values.items():
        assert name in line
        line = line.replace(name, value)
    confined = installation.home / "bin/confined.py"
    confined.write_bytes((Path(__file__).parent / "confined.py").read_bytes())
    started = Started(
        installation.command(
            f"{HOME}/bin/python",
            f"{HOME}/bin/confined.py",
            ",".join(sorted(_allowed())),
            *("sh", "-c", f'cp -R {KERNELS} /tmp/kernels && exec "$@"', "sh"),
            *shlex.split(line),
            environment={"NUMBA_CACHE_DIR": "/tmp/kernels", "XDG_CACHE_HOME": "/tmp/cache", "HOME": "/nonexistent"},
        ),
        token,
    )
    try:
        _use(started)
    finally:
        said = started.stop()
    _fine(said)


def _fine(said: str) -> None:
    """Nothing was compiled, and the log is a JSON object per request."""
    assert "ompil" not in said
    assert said.splitlines()[-1] == "Stopped."
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {line["route"] for line in lines} >= {"/v1/check", "/v1/compare", "/v1/group"}


def _allowed() -> set[str]:
    """The system calls that the unit's filter leaves, its groups as the installed systemd defines them."""
    allowed: set[str] = set()
    for value in directives(UNIT, "SystemCallFilter"):
        names = {call for name in value.removeprefix("~").split() for call in _calls(name)}
        allowed = allowed - names if value.startswith("~") else allowed | names
    assert "read" in allowed
    assert "mount" not in allowed
    return allowed


def _calls(name: str) -> set[str]:
    if not name.startswith("@"):
        return {name}
    told = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
    inner = [line.strip() for line in told.stdout.splitlines()[1:]]
    return {call for part in inner if part and not part.startswith("#") for call in _calls(part)}


def test_warming_twice_compiles_nothing(installation: Installation) -> None:
    done = installation.run("neardup", "warm", "stream", environment={"NUMBA_CACHE_DIR": KERNELS}, writable=True)
    assert "nothing was left to compile" in done.stderr
