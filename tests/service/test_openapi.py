"""The description is true: requests are made from it, and what comes back is held against it (schemathesis)."""

import importlib
import pkgutil
from urllib.parse import quote

import pytest
import schemathesis
import schemathesis.specs.openapi
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance

from neardup.service import openapi
from neardup.service.problems import KINDS
from neardup.service.routes import ROUTES
from neardup.service.settings import Settings
from neardup.service.shapes import LONGEST_ID
from neardup.service.tokens import RIGHTS, Token

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
                assert answer.status_code == 200, (path, answer.text)
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
