"""`python -m benchmarks.index.peers`: neardup's index beside datasketch's, in memory and in Redis, on equal documents.

    neardup                     batches of 1,000, each one commit that is on disk when the call returns
    neardup, one by one         a call and a commit for every document
    datasketch                  MinHashLSH in the process's memory
    datasketch, Redis           MinHashLSH in a Redis of its own, with appendonly and appendfsync everysec
    datasketch, Redis, always   the same with appendfsync always: what is acknowledged is on disk

Each makes the documents itself (see corpus), sketches them, and runs in a process of its own (see racing). Afterwards
the one that holds the data, process or Redis, is killed with SIGKILL while documents are being added, started again,
and asked for all documents that had been acknowledged. That is no power cut, in which `everysec` loses a second.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.index import processes
from benchmarks.speed import environments
from benchmarks.speed.settings import default_work

HERE = Path(__file__).parent
PEERS = {
    "neardup": {"script": "run_neardup", "arguments": ["--folder", "{folder}/seen.ndx"]},
    "neardup, one by one": {"script": "run_neardup", "arguments": ["--folder", "{folder}/seen.ndx", "--single", "yes"]},
    "datasketch": {"script": "run_datasketch", "arguments": []},
    "datasketch, Redis": {"script": "run_datasketch", "arguments": ["--port", "{port}"], "fsync": "everysec"},
    "datasketch, Redis, always": {"script": "run_datasketch", "arguments": ["--port", "{port}"], "fsync": "always"},
}
"""Script, what it is told, and where it needs a Redis, when that one syncs."""


class Redis:
    """A server on a free port of this machine, with its data in a folder."""

    def __init__(self, folder: Path, fsync: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        settings = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        settings += ["--appendonly", "yes", "--appendfsync", fsync]
        self.process = subprocess.Popen(["redis-server", *settings], stdout=subprocess.DEVNULL)
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=5) as asked:
                    asked.sendall(b"PING\r\n")
                    if asked.recv(100).startswith(b"+PONG"):  # it says LOADING before
                        return
            except OSError:
                pass
            time.sleep(0.02)
        self.kill()
        raise RuntimeError("redis-server does not answer; Debian's package redis-server has it.")

    def kill(self) -> None:
        """As the kernel does when memory is short."""
        self.process.kill()
        self.process.wait()


def race(name: str, python: Path, documents: int, folder: Path) -> dict[str, Any]:
    """The figures of one peer."""
    with _redis(name, folder / "race") as server:
        begin = 0.0 if server is None else processes.cpu(server.process.pid)
        answer = subprocess.run(
            _command(name, python, "race", documents, folder / "race", server),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=environments.ROOT,
        )
        row: dict[str, Any] = json.loads(answer.stdout)
        if server is not None:
            row["CPU of Redis, whole run, s"] = processes.cpu(server.process.pid) - begin
            row["bytes/document on disk"] = processes.size(server.folder) / documents
        elif (folder / "race" / "seen.ndx").exists():
            row["bytes/document on disk"] = row.pop("bytes/document elsewhere")
    return row


def survive(name: str, python: Path, documents: int, folder: Path) -> dict[str, int]:
    """How many documents were acknowledged before a kill, and how many of them are lost after it."""
    place = folder / "survive"
    with _redis(name, place) as server:
        command = _command(name, python, "acknowledge", documents * 1_000, place, server)
        acknowledged: list[str] = []
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=environments.ROOT
        ) as adding:
            assert adding.stdout is not None
            for line in adding.stdout:
                acknowledged += json.loads(line)
                if len(acknowledged) >= documents // 4:
                    break
            if server is None:
                adding.kill()
            else:
                server.kill()
            for line in adding.stdout:  # what it had said before it was killed, or before its server was
                acknowledged += json.loads(line)
    with _redis(name, place) as server:
        asked = subprocess.run(
            _command(name, python, "count", documents, place, server),
            input=json.dumps(acknowledged),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=environments.ROOT,
        )
    return {"acknowledged": len(acknowledged), "lost by a kill": len(acknowledged) - int(asked.stdout)}


@contextmanager
def _redis(name: str, folder: Path) -> Iterator[Redis | None]:
    folder.mkdir(parents=True, exist_ok=True)
    if "fsync" not in PEERS[name]:
        yield None
        return
    server = Redis(folder / "redis", str(PEERS[name]["fsync"]))
    try:
        yield server
    finally:
        server.kill()


def _command(
    name: str, python: Path, command: str, documents: int, folder: Path, server: Redis | None
) -> list[str | Path]:
    port = "" if server is None else str(server.port)
    told = [argument.format(folder=folder, port=port) for argument in PEERS[name]["arguments"]]
    return [python, "-m", f"benchmarks.index.{PEERS[name]['script']}", command, "--documents", str(documents), *told]


COLUMNS = {
    "check_and_add/s": "{:,.0f}",
    "sketching, µs/document": "{:,.0f}",
    "all else, µs/document": "{:,.0f}",
    "CPU, µs/document": "{:,.0f}",
    "CPU of Redis, whole run, s": "{:.1f}",
    "check/s": "{:,.0f}",
    "removal/s": "{:,.0f}",
    "memory growth, bytes/document": "{:,.0f}",
    "bytes/document elsewhere": "{:,.0f}",
    "bytes/document on disk": "{:,.0f}",
    "acknowledged": "{:,}",
    "lost by a kill": "{:,}",
    "recall": "{:.4f}",
    "false": "{}",
    "not removed": "{}",
}


def main(argv: list[str] | None = None) -> int:
    """Measure one after the other, print, write down; 1 if neardup lost something."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.index.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--work", type=Path, default=default_work(), help="where the peer's environment is kept")
    parser.add_argument("--folder", type=Path, help="where data is put, and deleted  [default: a temporary one]")
    parser.add_argument("--json", type=Path, default=processes.RESULTS / "peers.json")
    options = parser.parse_args(argv)
    rows = []
    here = processes.facts()
    for name in options.only:
        print(f"{name} …", file=sys.stderr)
        python = Path(sys.executable)
        if PEERS[name]["script"] == "run_datasketch":
            python = environments.python_of("datasketch-redis", options.work, listed=HERE)
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            row = {"system": name, "load before": os.getloadavg()}
            row |= race(name, python, options.documents, Path(folder))
            shutil.rmtree(Path(folder) / "race")
            row |= survive(name, python, options.documents, Path(folder))
            row["load after"] = os.getloadavg()
        rows.append(row)
    print(f"{options.documents:,} documents\n")
    print(processes.table(rows, COLUMNS, "system"))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({**here, "documents": options.documents, "rows": rows}, indent=2) + "\n")
    return 1 if any(row["lost by a kill"] for row in rows if row["system"].startswith("neardup")) else 0


if __name__ == "__main__":
    sys.exit(main())
