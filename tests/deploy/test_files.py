"""The files of deploy/ are what their own tools call right, and agree with each other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.deploy.installed import ROOT, directives

DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
UNIT = (DEPLOY / "neardup.service").read_text()
MANIFEST = [part for part in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()) if part]


def _tool(*command: str, **options: object) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout + done.stderr)


def test_hadolint_has_nothing_to_say_of_the_image():
    assert _tool("hadolint", "--failure-threshold", "style", str(DEPLOY / "Containerfile")) == ""


def test_the_image_has_the_user_and_no_more_than_it_needs():
    last = CONTAINERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.M)
    assert "pip install" not in last
    assert "apt-get" not in CONTAINERFILE
    assert "--only-binary :all:" in CONTAINERFILE
    assert [line for line in CONTAINERFILE.splitlines() if line.startswith("FROM ") and "${PYTHON}" not in line] == []
    for name in ("NUMBA_CPU_NAME=x86-64-v3", 'NUMBA_CPU_FEATURES=""'):
        assert CONTAINERFILE.count(name) == 2, "compiled for one processor and run for another"
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text().split()
    copied = {part for line in re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINERFILE, re.M) for part in line.split()}
    assert {f"!{part}" for part in copied if not part.startswith("--")} <= set(ignored)


def test_the_start_of_the_image_is_posix_shell():
    _tool("sh", "-n", str(DEPLOY / "start.sh"))


@pytest.fixture
def unit(tmp_path):
    """The unit, with programs that are there."""
    made = tmp_path / "neardup.service"
    made.write_text(UNIT.replace("/opt/neardup/bin/neardup", "/bin/true"))
    return made


def test_systemd_takes_the_unit(unit):
    assert _tool("systemd-analyze", "verify", str(unit)) == ""


def test_systemd_calls_the_unit_hardened(unit):
    told = _tool("systemd-analyze", "security", "--offline=yes", "--threshold=15", str(unit))
    assert "Overall exposure level" in told


def test_the_unit_stops_later_than_the_service_needs():
    [start] = directives(UNIT, "ExecStart")
    [limit] = directives(UNIT, "TimeoutStopSec")
    assert int(limit) > float(re.findall(r"--grace (\S+)", start)[0]) + 5
    assert "WriteExecute=yes" not in UNIT  # numba compiles


def test_a_reload_reads_tokens_again():
    assert directives(UNIT, "ExecReload") == ["/bin/kill -HUP $MAINPID"]


def test_kubernetes_takes_the_manifest():
    _tool(sys.executable, "-m", "kubernetes_validate", "--strict", "--quiet", str(DEPLOY / "kubernetes.yaml"))


def test_the_pod_is_read_only_and_somebody_else():
    [deployment] = [part for part in MANIFEST if part["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    [grace] = [part for part in container["args"] if part.startswith("--grace=")]
    assert pod["terminationGracePeriodSeconds"] > int(grace.partition("=")[2]) + 5
    assert deployment["spec"]["strategy"]["type"] == "Recreate"


def test_every_option_that_is_given_is_one():
    from neardup.cli.serve import command as serve

    known = {name for parameter in serve.params for name in parameter.opts}
    image = json.loads(re.findall(r"^CMD (\[.*\])$", CONTAINERFILE, re.M)[0])
    pod = next(part for part in MANIFEST if part["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]
    lines = [*directives(UNIT, "ExecStart"), *directives((DEPLOY / "neardup.env").read_text(), "NEARDUP_OPTIONS")]
    given = [*image, *pod["args"], *(part for line in lines for part in line.split())]
    assert {part.partition("=")[0] for part in given if part.startswith("--")} <= known
