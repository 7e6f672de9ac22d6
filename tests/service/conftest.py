"""Two services for all tests of a worker: one for everybody on this machine, one with tokens."""

import pytest

from neardup import Index
from neardup.recipes import load_recipe
from tests.service.serving import READ, WRITE, serving


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    index = tmp_path_factory.mktemp("service") / "seen.ndx"
    Index.open(index, load_recipe("stream")).close()  # with the public seed, so that its sketches are the library's
    with serving(index) as made:
        yield made


@pytest.fixture(scope="session")
def guarded(tmp_path_factory):
    environment = {"NEARDUP_READ_TOKEN": READ, "NEARDUP_WRITE_TOKEN": WRITE}
    folder = tmp_path_factory.mktemp("guarded")
    limits = ("--max-body", "20000", "--max-line", "20000", "--max-document", "10000", "--max-documents", "5")
    with serving(folder / "seen.ndx", *limits, "--keep", "text", environment=environment) as made:
        yield made
