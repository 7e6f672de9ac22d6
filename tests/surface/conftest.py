"""The command from outside: a process of its own, as a user runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from neardup import sample


def run(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "neardup", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    sample.write(folder, scale=0.3)
    return folder
