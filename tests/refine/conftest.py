"""The kernels are compiled before what commands say is compared: they say that too."""

import pytest

from neardup import group


@pytest.fixture(scope="session", autouse=True)
def compiled():
    for query in (None, "one"):
        group([{"text": "one and the same text"}, {"text": "another one"}], query=query)
