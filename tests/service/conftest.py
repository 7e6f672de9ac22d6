"""Two services for all tests of a worker: one for everybody on this machine, one with tokens."""

import pytest

from tests.service.serving import READ, WRITE, serving


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("service") / "seen.ndx") as made:
        yield made


@pytest.fixture(scope="session")
def guarded(tmp_path_factory):
    environment = {"NEARDUP_READ_TOKEN": READ, "NEARDUP_WRITE_TOKEN": WRITE}
    folder = tmp_path_factory.mktemp("guarded")
    limits = ("--max-body", "20000", "--max-line", "20000", "--max-document", "10000", "--max-documents", "5")
    with serving(folder / "seen.ndx", *limits, "--keep", "text", environment=environment) as made:
        yield made
