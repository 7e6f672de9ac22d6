"""The description is true: requests are made from it, and what comes back is held against it (schemathesis)."""

import importlib
import pkgutil

import schemathesis
import schemathesis.specs.openapi
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from neardup.service import openapi
from neardup.service.problems import KINDS
from neardup.service.routes import ROUTES
from neardup.service.settings import Settings

# Its checks are imported when they are first needed, deep in the stack, where Python 3.11 cannot compile them.
for module in pkgutil.iter_modules(schemathesis.specs.openapi.__path__, "schemathesis.specs.openapi."):
    importlib.import_module(module.name)

DESCRIPTION = openapi.description(Settings())
schema = schemathesis.openapi.from_dict(DESCRIPTION)
streams = [route.path for route in ROUTES if route.stream]


@schema.exclude(path=streams).parametrize()
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
                answer = service.http.request(method, path, headers={"Content-Type": kind}, **sent)
                assert answer.status_code == 200, (path, answer.text)
                assert answer.content


def test_tokens_are_described_where_there_are_any():
    guarded = openapi.description(Settings(read_token="r" * 20, write_token="w" * 20))
    for route in ROUTES:
        needs = guarded["paths"][route.path][route.method.lower()].get("security")
        expected = {"open": None, "read": [{"read": []}, {"write": []}], "write": [{"write": []}]}[route.level]
        assert needs == expected
        assert "security" not in DESCRIPTION["paths"][route.path][route.method.lower()]


def test_every_problem_is_described():
    used = {kind for route in ROUTES for kind in openapi.kinds_of(route)}
    before_any_route = {"not-http", "head", "not-found", "method"}
    assert used | before_any_route == set(KINDS)
