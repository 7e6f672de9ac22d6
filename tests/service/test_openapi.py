"""The description is true: requests are made from it, and what comes back is held against it (schemathesis)."""

import importlib
import json
import pkgutil
from urllib.parse import quote

import pytest
import schemathesis
import schemathesis.specs.openapi
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import ignored_auth, negative_data_rejection, positive_data_acceptance

from neardup.service import openapi
from neardup.service.problems import KINDS
from neardup.service.routes import ROUTES
from neardup.service.settings import Settings
from neardup.service.shapes import LONGEST_ID
from neardup.service.tokens import RIGHTS, Token
from tests.service.serving import READ, WRITE

# Its checks are imported when they are first needed, deep in the stack, where Python 3.11 cannot compile them.
for module in pkgutil.iter_modules(schemathesis.specs.openapi.__path__, "schemathesis.specs.openapi."):
    importlib.import_module(module.name)

DESCRIPTION = openapi.description(Settings())

# An id of many characters outside ASCII makes an address longer than a request's head may be, before anybody looks
# whether the id itself is too long: 431, of which schemathesis does not know that it refuses.
TOO_LONG = "431"
ANSWERED = ["2xx", "401", "403", "404", "409", "5xx", TOO_LONG]
REFUSED = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "5xx", TOO_LONG]

schema = schemathesis.openapi.from_dict(
    DESCRIPTION,
    config=SchemathesisConfig.from_dict(
        {
            "checks": {
                "positive_data_acceptance": {"expected-statuses": ANSWERED},
                "negative_data_rejection": {"expected-statuses": REFUSED},
            }
        }
    ),
)
streams = [route.path for route in ROUTES if route.stream]
SOME = ("/v1/indexes/{index}", "/v1/indexes/{index}/check", "/v1/indexes/{index}/documents/{id}")
twins = [route.path for route in ROUTES if route.named and route.path not in SOME]
"""The same code as without a name."""


@schema.exclude(path=streams + twins).parametrize()
@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_requests_made_from_the_description(service, case):
    may_be_refused = [positive_data_acceptance] if case.path == "/v1/group" else []  # by results without a named field
    case.call_and_validate(base_url=service.address, excluded_checks=may_be_refused)


guarded_schema = schemathesis.openapi.from_dict(openapi.description(Settings(tokens=(Token.of("r", READ, "read"),))))
levels = {(route.method, route.path): route.level for route in ROUTES}


@guarded_schema.exclude(path=streams + twins).parametrize()
@settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_tokens_are_needed_whatever_the_request(guarded, case):
    """Data that fits and data that does not: without a token that may, nothing is done."""
    level = levels.get((case.method.upper(), case.path), "open")  # it tries other methods, too
    refused = {"open": [], "read": [None, "x" * 40], "write": [None, "x" * 40, READ], "admin": [None, READ, WRITE]}
    for token in refused[level]:
        headers = {"Authorization": "" if token is None else f"Bearer {token}"}
        assert 400 <= case.call(base_url=guarded.address, headers=headers).status_code < 500
    case.call_and_validate(
        base_url=guarded.address,
        headers={"Authorization": f"Bearer {WRITE}"},
        # Its limits are narrow, and a header replaces whatever schemathesis would have made of it.
        excluded_checks=[positive_data_acceptance, negative_data_rejection, ignored_auth],
    )


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)
_LINES = st.one_of(
    st.fixed_dictionaries({}, optional={name: st.text() for name in ("id", "text", "html", "url")}).map(json.dumps),
    st.dictionaries(st.sampled_from(["id", "text", "html", "url", "other"]), _VALUES).map(json.dumps),
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])),
    st.binary().map(lambda line: line.replace(b"\n", b"")),
).map(lambda line: line if isinstance(line, bytes) else line.encode())


@pytest.mark.parametrize("path", [path for path in streams if "{index}" not in path])
def test_every_line_of_a_stream_is_answered_or_refused_whatever_it_is(service, path):
    """schemathesis makes no lines; these are documents, JSON of other shapes, and bytes."""

    @settings(max_examples=20, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(_LINES, max_size=8))
    def ask(lines):
        answers = service.stream(path.removeprefix("/v1/stream/"), lines)
        assert len(answers) == sum(bool(line.strip()) for line in lines)
        for answer in answers:
            assert answer["error"]["status"] < 500 if "error" in answer else isinstance(answer["id"], str)

    ask()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_ids_that_are_too_long_for_an_address_are_refused(service, mode):
    """As a request that fits the description, and as one that does not: so schemathesis happens to make them."""

    @settings(max_examples=1, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(schema["/v1/documents/{id}"]["GET"].as_strategy(generation_mode=mode))
    def ask(case):
        case.path_parameters = {"id": quote("🌹" * (LONGEST_ID + (mode is GenerationMode.NEGATIVE)))}
        assert case.call_and_validate(base_url=service.address).status_code == 431

    ask()


def test_the_service_serves_it(service):
    answer = service.http.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == DESCRIPTION


def test_examples_are_answered(service):
    """Every example of the description, as it stands there."""
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            for kind, body in operation.get("requestBody", {}).get("content", {}).items():
                example = body["example"]
                sent = {"content": example} if isinstance(example, str) else {"json": example}
                at = path.replace("{index}", "default")
                answer = service.http.request(method, at, headers={"Content-Type": kind}, **sent)
                expected = (409,) if path.endswith("/backup") else (200, 202, 409)  # no folder; another job runs
                assert answer.status_code in expected, (path, answer.text)
                assert answer.content


def test_tokens_are_described_where_there_are_any():
    guarded = openapi.description(Settings(tokens=(Token.of("r", "r" * 20, "read"),)))
    for route in ROUTES:
        needs = guarded["paths"][route.path][route.method.lower()].get("security")
        expected = [{right: []} for right in RIGHTS[RIGHTS.index(route.level) :]] if route.level != "open" else None
        assert needs == expected
        assert "security" not in DESCRIPTION["paths"][route.path][route.method.lower()]


def test_every_problem_is_described():
    used = {kind for route in ROUTES for kind in openapi.kinds_of(route)}
    before_any_route = {"not-http", "head", "not-found", "method"}
    of_pages_alone = {"no-group", "run"}
    assert not used & of_pages_alone
    assert used | before_any_route | of_pages_alone == set(KINDS)
