"""The description of the service for programs (OpenAPI 3.1), made from the routes and the classes of shapes."""

from typing import Any

import msgspec

from neardup._version import __version__
from neardup.service import shapes
from neardup.service.indexes import NAME
from neardup.service.problems import KINDS, TYPE, ProblemOut
from neardup.service.routes import ROUTES, Route
from neardup.service.settings import Settings
from neardup.service.tokens import RIGHTS

_REF = "#/components/schemas/{name}"
_ALWAYS = ("busy", "stopping", "failed", "foreign-origin", "forwarded", "wrong-host", "head")
_GUARDED = ("no-token", "forbidden", "quota")
_BODY = ("not-json", "timeout", "too-large", "media-type", "invalid", "slow", "missing-part", "store")
_WRITES = ("full",)
_ONE_OF = ("Document", "Query", "Similar", "Side", "Line", "QueryLine")
_EITHER = [
    {"title": name, "required": [name], "properties": {name: {"type": "string"}}} for name in ("text", "html")
]  # fmt: skip
_NAMED = (
    "Where several indexes are served: what is done with the default one is done with the one that the address names, "
    "under /v1/indexes/NAME, /v1/indexes/NAME/check and so on."
)
_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "index",
        "in": "path",
        "required": True,
        "description": "The name of an index: see /v1/indexes.",
        "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"},
        "example": "default",
    },
    {
        "name": "job",
        "in": "path",
        "required": True,
        "description": "The id of a job.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
        "example": "0123456789abcdef",
    },
    {
        "name": "id",
        "in": "path",
        "required": True,
        "description": "Percent-encoded.",
        "schema": {"type": "string", "minLength": 1, "maxLength": shapes.LONGEST_ID},
        "example": "https://a.example/roses",
    },
]
_LIST_OR_WHOLE = [
    {"title": name, "required": [name], "properties": {name: {"type": type_}}}
    for name, type_ in (("results", "array"), ("response", "object"))
]


def description(settings: Settings) -> dict[str, Any]:
    """The document."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "neardup",
            "version": __version__,
            "description": "Near-duplicate detection around indexes: check documents as they arrive, compare, group.",
        },
        "tags": [
            {"name": "index", "description": "Single documents. Those that arrive together are done together."},
            {"name": "streams", "description": "A document per line, as many as you like."},
            {"name": "at hand", "description": "Documents that need not be in the index."},
            {"name": "indexes", "description": _NAMED},
            {"name": "operators", "description": "Care for indexes and the collection, while they are served."},
            {"name": "service", "description": "How it does."},
        ],
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "responses": {kind: _problem(kind) for kind in KINDS},
            "securitySchemes": {
                "read": {"type": "http", "scheme": "bearer", "description": "A token with the right to read."},
                "write": {"type": "http", "scheme": "bearer", "description": "One that may write; it also reads."},
                "admin": {"type": "http", "scheme": "bearer", "description": "One that may do everything."},
            },
        },
    }
    if not settings.guarded:
        for operation in (each for methods in paths.values() for each in methods.values()):
            operation.pop("security", None)
    return made


def _operation(route: Route) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "description": route.about,
        "tags": [_tag(route)],
        "responses": _responses(route),
    }
    parameters = [each for each in _PARAMETERS if f"{{{each['name']}}}" in route.path]
    if parameters:
        made["parameters"] = parameters
    if route.takes is not None:
        type_ = "application/x-ndjson" if route.stream else "application/json"
        schema = {"$ref": _REF.format(name=route.takes.__name__)}
        body: dict[str, Any] = {"schema": {"type": "string"} if route.stream else schema}
        if route.stream:
            body["itemSchema"] = schema
            body["example"] = msgspec.json.encode(route.example).decode() + "\n"
        else:
            body["example"] = route.example
        made["requestBody"] = {"required": True, "content": {type_: body}}
    if route.level != "open":
        made["security"] = [{right: []} for right in RIGHTS[RIGHTS.index(route.level) :]]
    return made


def _operation_id(route: Route) -> str:
    words = ("stream-" if route.stream else "") + route.does + ("-in-index" if route.named else "")
    return words.replace("-", "_")


def _tag(route: Route) -> str:
    if route.named or route.does == "indexes":
        return "indexes"
    if route.stream:
        return "streams"
    if route.does in ("compare", "sketch", "group"):
        return "at hand"
    if route.level == "admin":
        return "operators"
    return "index" if route.path.startswith("/v1/") else "service"


def kinds_of(route: Route) -> list[str]:
    """The problems that a route may answer with."""
    if route.level == "open":
        return [*route.problems, "foreign-origin", "forwarded", "wrong-host", "failed", "head"]
    kinds = [*route.problems, *_GUARDED, *_ALWAYS, *(["no-index", "unknown-index"] if route.of_index else [])]
    if route.does == "compare" and not route.named:  # by the recipe of the default index
        kinds.append("unknown-index")
    if "{" in route.path and "bad-path" not in kinds:
        kinds.append("bad-path")
    if route.takes is not None:
        kinds += [kind for kind in _BODY if not (route.stream and kind in ("not-json", "invalid", "slow", "store"))]
    else:
        kinds += ["store", "slow"]
    return kinds + (list(_WRITES) if route.level in ("write", "admin") and not route.stream else [])


def _responses(route: Route) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done."}
    if route.stream:
        good["description"] = "A line for each line."
        lines = {"anyOf": [{"$ref": _REF.format(name=cls.__name__)} for cls in (route.gives, shapes.LineProblem)]}
        good["content"] = {"application/x-ndjson": {"schema": {"type": "string"}, "itemSchema": lines}}
    elif route.gives is not None:
        good["content"] = {"application/json": {"schema": {"$ref": _REF.format(name=route.gives.__name__)}}}
    elif route.does == "metrics":
        good["content"] = {"text/plain": {"schema": {"type": "string"}}}
    elif route.does == "docs":
        good["content"] = {"text/html": {"schema": {"type": "string"}}}
    else:
        good["content"] = {"application/json": {"schema": {"type": "object"}}}
    responses: dict[str, Any] = {str(route.status): good}
    by_status: dict[int, list[str]] = {}
    for kind in dict.fromkeys(kinds_of(route)):
        by_status.setdefault(KINDS[kind].status, []).append(kind)
    for status, kinds in sorted(by_status.items()):
        responses[str(status)] = (
            {"$ref": f"#/components/responses/{kinds[0]}"} if len(kinds) == 1 else _problem(*kinds)
        )  # fmt: skip
    return responses


def _problem(*kinds: str) -> dict[str, Any]:
    found = [KINDS[kind] for kind in kinds]
    examples = {
        kind: {"value": {"type": f"/docs#{kind}", "title": row.title, "status": row.status, "detail": row.advice}}
        for kind, row in zip(kinds, found, strict=True)
    }
    headers = {"Retry-After": {"schema": {"type": "integer"}}} if found[0].status in (429, 503) else {}
    return {
        "description": " Or: ".join(f"{row.title}. {row.advice}" for row in found),
        "content": {TYPE: {"schema": {"$ref": _REF.format(name="ProblemOut")}, "examples": examples}},
        **({"headers": headers} if headers else {}),
    }


def _schemas() -> dict[str, Any]:
    classes = {cls for route in ROUTES for cls in (route.takes, route.gives) if cls is not None}
    _, found = msgspec.json.schema_components(
        [*sorted(classes, key=lambda cls: str(cls.__name__)), ProblemOut, shapes.LineProblem], ref_template=_REF
    )
    for name in _ONE_OF:
        found[name]["oneOf"] = _EITHER
    found["Grouping"]["oneOf"] = _LIST_OR_WHOLE
    return found
