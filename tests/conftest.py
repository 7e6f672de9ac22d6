"""Hypothesis: no deadline (the first call compiles), the same examples every time on CI. Seeds: the same every time.

command_line   the command in this process, which need not start and compile again
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "neardup", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("plain", parent=settings.get_profile("neardup"), max_examples=25)
settings.load_profile("plain" if os.environ.get("NUMBA_DISABLE_JIT") else "neardup")


@pytest.fixture(scope="session", autouse=True)
def _known_seeds() -> Iterator[None]:
    """Let new indexes have the public seed, so that their answers are the same every time, and those of runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.recipes.randbits", lambda bits: 1)
        yield


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run the command in this process."""
    from neardup.cli import main

    def command(*arguments: object, input: str = "") -> Done:
        capsys.readouterr()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "meta_path", list(sys.meta_path))
            patched.setattr(sys, "stdin", TextIOWrapper(BytesIO(input.encode())))
            with pytest.raises(SystemExit) as ended:
                main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Done(ended.value.code or 0, said.out, said.err.replace("\n", " "))

    return command
