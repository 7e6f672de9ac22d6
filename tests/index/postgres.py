"""A real PostgreSQL for the tests: its own data folder, its own port on 127.0.0.1, nothing of it left behind.

Debian's package `postgresql` has it; `make test` installs it where it is missing.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psycopg

# The server is stopped when the pipe to this shell closes: also when the tests are killed.
_GUARD = '"$@" & server=$!; read -r line; kill -INT $server; wait $server'

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # a test's data survives a kill, and need not survive a power cut
    "autovacuum": "off",
    "logging_collector": "off",
    "log_min_messages": "fatal",
}


def programs() -> Path:
    """The folder of initdb and postgres, of the newest version that is installed."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    for folder in [*reversed(debian), *on_path]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError("these tests need PostgreSQL: apt-get install postgresql")


def _somebody() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: the user that it runs as instead."""
    if os.getuid():
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("PostgreSQL does not run as root, and there is no user postgres or nobody")


class Server:
    """Starts and stops it; `address` leads to it."""

    def __init__(self) -> None:
        self._user = _somebody()
        self._folder = Path(tempfile.mkdtemp(prefix="neardup-postgres-"))
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "-D", self._data, "-U", "neardup", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.start()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def address(self) -> str:
        return f"postgresql://neardup@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = [f"--{name}={value}" for name, value in {**_SETTINGS, "port": self.port}.items()]
        command = [str(programs() / "postgres"), "-D", str(self._data), *settings]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", _GUARD, "sh", *command],
                **self._as_somebody(),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the tests; the closing pipe is for the server
            )
        self._wait_until_ready()

    def stop(self) -> None:
        """As an administrator does: who is connected is disconnected."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=60)
            self._process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def execute(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """As the administrator."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        end = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.address, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    raise RuntimeError((self._folder / "log").read_text(errors="replace")) from None
                time.sleep(0.02)

    def _run(self, program: str, *arguments: object) -> None:
        done = subprocess.run(
            [str(programs() / program), *map(str, arguments)], **self._as_somebody(), capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")

    def _as_somebody(self) -> dict:
        options: dict = {"cwd": self._folder}
        if self._user is not None:
            options |= {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return options
