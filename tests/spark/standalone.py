"""A standalone cluster for the tests: a master and workers as processes of their own, on free ports of 127.0.0.1.

Nothing of it is left behind: processes run in sessions of their own, which are ended by their ids, and everything they
write is in a temporary folder.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pyspark

_HOME = Path(pyspark.__file__).parent
PATIENCE = 600
"""Seconds until something has failed that others are too busy for."""


class Cluster:
    """`address` leads to it; `kill` takes a worker away, with all that it has started."""

    def __init__(self, workers: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="neardup-spark-"))
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.address = self._said("master", rb"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            self.add_worker(f"worker{number}")

    def add_worker(self, name: str) -> None:
        own = ["--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / f"{name}-work")]
        ports = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        self._start(name, "worker.Worker", *ports, *own, self.address)
        self._said(name, rb"(Successfully registered with master)")

    def _start(self, name: str, role: str, *arguments: str) -> None:
        environment = {
            **os.environ,
            "SPARK_HOME": str(_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self._folder / f"{name}-local"),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "512m",
        }
        command = [str(_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *arguments]
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._processes.append(process)

    def _said(self, name: str, pattern: bytes) -> str:
        """What a process writes to its log when it is ready."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(pattern, (self._folder / f"{name}.log").read_bytes())
            if found:
                return found[1].decode()
            if self._processes[-1].poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{name} does not start: {(self._folder / f'{name}.log').read_text()[-2000:]}")

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self._processes[1:]

    def kill(self, number: int) -> None:
        """SIGKILL for a worker and for its executors and their Python processes, which are in its session."""
        self._kill(self.workers[number])

    @staticmethod
    def _kill(process: subprocess.Popen[bytes]) -> None:
        for one in [process.pid, *_descendants(process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in reversed(self._processes):
            self._kill(process)
        shutil.rmtree(self._folder, ignore_errors=True)


def _descendants(process: int) -> list[int]:
    """All that a process has started, and what these have, as Linux tells it."""
    found: list[int] = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text().split():
                found += [*_descendants(int(child)), int(child)]
    return found
