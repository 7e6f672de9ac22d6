"""Look every installed library up among the known vulnerabilities (pip-audit).

python scripts/audit.py

Exit code 1 where one is known. Where no database can be reached nothing was looked up: that is said, and is no failure,
so that machines without a network can run it.
"""

import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")
_OUT_OF_REACH = ("ConnectionError", "ConnectTimeout", "ReadTimeout", "ProxyError", "SSLError")


def judge(report: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Return how many libraries were looked up, how many were not, and a line for each vulnerability that is known."""
    libraries = report["dependencies"]
    looked_up = [library for library in libraries if "skip_reason" not in library]
    found = [
        f"{library['name']} {library['version']}: {flaw['id']}{_mended(flaw['fix_versions'])}"
        for library in looked_up
        for flaw in library["vulns"]
    ]
    return len(looked_up), len(libraries) - len(looked_up), found


def _mended(versions: list[str]) -> str:
    return f", mended in {', '.join(versions)}" if versions else ", not mended yet"


def _ask(service: str) -> dict[str, Any] | None:
    """Ask one database about everything that is installed beside this Python; None where it cannot be reached."""
    options = ["--local", "--skip-editable", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    command = [sys.executable, "-m", "pip_audit", *options, "--vulnerability-service", service]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        if not any(reason in done.stderr for reason in _OUT_OF_REACH):
            raise SystemExit(f"pip-audit failed:\n{done.stderr}") from None
        return None
    return report


def main() -> int:
    """Ask the databases one after the other, until one answers."""
    for service in SERVICES:
        report = _ask(service)
        if report is None:
            continue
        looked_up, others, found = judge(report)
        if looked_up:
            print(*found, f"{service}: {looked_up} libraries looked up, {others} unknown to it.", sep="\n")
            return 1 if found else 0
    print("No database of vulnerabilities can be reached from here. NOTHING was looked up; run it where there is one.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
