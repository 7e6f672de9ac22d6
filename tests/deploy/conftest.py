"""One installation for all tests of a worker."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.installed import Installation, install


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """Not in pytest's folder, which its owner alone may enter."""
    with tempfile.TemporaryDirectory(prefix="neardup-deploy-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield install(Path(folder))
