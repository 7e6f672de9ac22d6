"""Places for new stores, of both engines."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from neardup.index import postgres, rocks
from tests.index.postgres import Server

_NAMES = count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.remove()


@pytest.fixture
def address(server: Server) -> str:
    """Of an index that there is not yet."""
    return f"{server.address}?index=test_{next(_NAMES)}"


class Engine:
    """A module that makes stores, and a place for one."""

    def __init__(self, module: Any, place: Any) -> None:
        self.module, self.place = module, place

    def create(self, settings: dict[str, Any] | None = None) -> Any:
        return self.module.create(self.place, settings or {})

    def open(self, *, read_only: bool = False) -> Any:
        return self.module.open(self.place, read_only=read_only)

    def exists(self) -> bool:
        found: bool = self.module.exists(self.place)
        return found


@pytest.fixture(params=["rocks", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    if request.param == "rocks":
        return Engine(rocks, tmp_path / "seen.ndx")
    return Engine(postgres, request.getfixturevalue("address"))


@pytest.fixture
def store(engine: Engine, closing: Callable[[Any], Any]) -> Any:
    """A new one."""
    return closing(engine.create())


@pytest.fixture
def closing() -> Iterator[Callable[[Any], Any]]:
    """Closes what it was given, after the test."""
    opened: list[Any] = []

    def remember(store: Any) -> Any:
        opened.append(store)
        return store

    yield remember
    for store in opened:
        store.close()
