"""The description of the service for people: one page, made from the OpenAPI document, that loads nothing."""

import json
from functools import lru_cache
from html import escape
from typing import Any

from neardup.pages import document
from neardup.service.problems import KINDS

_STYLE = """
main { padding-top: 1.5rem; padding-bottom: 3rem; }
section { margin: 2rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem; }
article { margin: 0 0 2rem; }
article h3 { margin: 0 0 .25rem; }
.method { display: inline-block; min-width: 4.2em; font-family: var(--mono); font-size: .82rem; color: var(--accent); }
nav ul { columns: 18rem; padding: 0; list-style: none; margin: 0; }
"""


@lru_cache(8)
def page(described: str, address: str) -> str:
    """The page. `described`: the OpenAPI document; `address`: under which the service is asked, for the examples."""
    api = json.loads(described)
    operations = [
        (path, method, operation) for path, methods in api["paths"].items() for method, operation in methods.items()
    ]
    sections = []
    for tag in api["tags"]:
        parts = [_operation(api, address, *each) for each in operations if tag["name"] in each[2]["tags"]]
        sections.append(
            f"<section><h2>{escape(tag['name'].capitalize())}</h2><p>{escape(tag['description'])}</p>{''.join(parts)}</section>"
        )
    links = "".join(
        f'<li><a href="#{escape(operation["operationId"])}"><span class="method">{method.upper()}</span>'
        f"{escape(path)}</a></li>"
        for path, method, operation in operations
    )
    body = (
        f"<main><h1>{escape(api['info']['title'])} {escape(api['info']['version'])}</h1>"
        f"<p>{escape(api['info']['description'])}</p>"
        '<p>For programs: <a href="/openapi.json">openapi.json</a>, OpenAPI 3.1.</p>'
        f'<nav aria-label="Addresses"><ul>{links}</ul></nav>{"".join(sections)}{_problems()}</main>'
    )
    return document("neardup service", body, style=_STYLE)


def _operation(api: dict[str, Any], address: str, path: str, method: str, operation: dict[str, Any]) -> str:
    rows = ""
    content = operation.get("requestBody", {}).get("content", {})
    for type_, body in content.items():
        schema = body.get("itemSchema", body["schema"])
        fields = _fields(api, schema["$ref"])
        rows = (
            f'<p class="note">{escape(type_)}</p><div class="scroll"><table><thead><tr><th>field</th><th>type</th>'
            f"<th></th></tr></thead><tbody>{fields}</tbody></table></div>"
        )
    statuses = ", ".join(operation["responses"])
    return (
        f'<article id="{escape(operation["operationId"])}"><h3><span class="method">{method.upper()}</span>'
        f"<code>{escape(path)}</code></h3>"
        f"<p><b>{escape(operation['summary'])}.</b> {escape(operation['description'])}</p>"
        f'{rows}<pre tabindex="0">{escape(_curl(address, path, method, operation))}</pre>'
        f'<p class="note">Answers: {escape(statuses)}</p></article>'
    )


def _fields(api: dict[str, Any], ref: str) -> str:
    schema = api["components"]["schemas"][ref.rpartition("/")[2]]
    needed = schema.get("required", [])
    return "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_type(facts))}{', needed' if name in needed else ''}</td>"
        f"<td>{escape(facts.get('description', ''))}</td></tr>"
        for name, facts in schema["properties"].items()
    )


def _type(facts: dict[str, Any]) -> str:
    if "anyOf" in facts:
        return " or ".join(_type(each) for each in facts["anyOf"] if each.get("type") != "null")
    if "$ref" in facts:
        return str(facts["$ref"].rpartition("/")[2])
    if facts.get("type") == "array":
        return f"list of {_type(facts['items'])}"
    return str(facts.get("type", "any"))


def _curl(address: str, path: str, method: str, operation: dict[str, Any]) -> str:
    from urllib.parse import quote

    shown = path.replace("{id}", quote("https://a.example/roses", safe=""))
    token = ' -H "Authorization: Bearer $TOKEN"' if operation.get("security") else ""
    verb = f" -X {method.upper()}" if method == "delete" else ""
    lines = [f"curl{verb} {address}{shown}{token}"]
    for type_, body in operation.get("requestBody", {}).get("content", {}).items():
        example = body["example"]
        said = example.rstrip("\n") if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
        lines.append(f" -H 'Content-Type: {type_}' -d '{said}'")
    return " \\\n ".join(lines)


def _problems() -> str:
    rows = "".join(
        f'<tr id="{kind}"><td>{row.status}</td><td><code>{kind}</code></td><td>{escape(row.title)}</td>'
        f"<td>{escape(row.advice)}</td></tr>"
        for kind, row in KINDS.items()
    )
    return (
        "<section><h2>Problems</h2><p>Every request that is not answered gets a problem (RFC 9457): type, title, "
        "status, detail, and the request's id as instance.</p>"
        '<div class="scroll"><table><thead><tr><th>status</th><th>type</th><th>title</th><th>what to do</th></tr>'
        "</thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )
