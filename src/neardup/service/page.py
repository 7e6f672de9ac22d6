"""The description of the service for people: one page, made from the OpenAPI document, that loads nothing."""

import json
from html import escape
from typing import Any
from urllib.parse import quote

from neardup.pages import document
from neardup.service.pages.layout import asset, header
from neardup.service.problems import KINDS

_STYLE = """
section { margin: 2rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem; }
article { margin: 0 0 2rem; }
article h3 { margin: 0 0 .25rem; }
article pre { margin: .75rem 0; }
caption { text-align: left; padding: .6rem 0 .2rem; }
table { width: auto; min-width: min(100%, 30rem); }
.method { display: inline-block; min-width: 4.2em; font-family: var(--mono); font-size: .82rem; color: var(--accent); }
main nav ul { columns: 18rem; padding: 0; list-style: none; margin: 0; }
"""

_GOOD = ("200", "202")
_SCROLLED = 'class="scroll" tabindex="0" role="group"'
_EXAMPLE = quote("https://a.example/roses", safe="")


ADDRESS = "http://ADDRESS"
"""Stands in the examples for the address under which the service is asked."""


def page(described: str) -> str:
    """The page. `described`: the OpenAPI document."""
    api = json.loads(described)
    operations = [
        (path, method, each)
        for path, methods in api["paths"].items()
        for method, each in methods.items()
        if "{index}" not in path  # the same once more
    ]
    links = "".join(
        f'<li><a href="#{escape(operation["operationId"])}"><span class="method">{method.upper()}</span>'
        f"{escape(path)}</a></li>"
        for path, method, operation in operations
    )
    sections = "".join(
        f"<section><h2>{escape(tag['name'].capitalize())}</h2><p>{escape(tag['description'])}</p>"
        + "".join(_article(api, *each) for each in operations if tag["name"] in each[2]["tags"])
        + "</section>"
        for tag in api["tags"]
    )
    body = (
        f"{header('/docs')}"
        '<main id="content" tabindex="-1">'
        f"<h1>{escape(api['info']['title'])} {escape(api['info']['version'])}</h1>"
        f"<p>{escape(api['info']['description'])}</p>"
        '<p>For programs: <a href="/openapi.json">openapi.json</a>, OpenAPI 3.1.</p>'
        f'<nav aria-label="Addresses"><ul>{links}</ul></nav>{sections}{_parts(api)}{_problems()}</main>'
    )
    return document("neardup service", body, style=asset("layout.css") + _STYLE)


def _article(api: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    summary = operation["summary"] + ("" if operation["summary"].endswith("?") else ".")
    others = ", ".join(status for status in operation["responses"] if status not in _GOOD)
    return (
        f'<article id="{escape(operation["operationId"])}"><h3><span class="method">{method.upper()}</span>'
        f"<code>{escape(path)}</code></h3><p><b>{escape(summary)}</b> {escape(operation['description'])}</p>"
        f'<pre tabindex="0">{escape(_curl(path, method, operation))}</pre>'
        f"{_content(api, 'Send', operation.get('requestBody', {}))}"
        f"{_content(api, 'Answer', next(operation['responses'][s] for s in _GOOD if s in operation['responses']))}"
        f'<p class="note">Problems: {escape(others)}</p></article>'
    )


def _curl(path: str, method: str, operation: dict[str, Any]) -> str:
    token = ' -H "Authorization: Bearer $TOKEN"' if operation.get("security") else ""
    verb = {"delete": " -X DELETE", "post": "" if "requestBody" in operation else " -X POST"}.get(method, "")
    at = path.replace("{id}", _EXAMPLE).replace("{job}", "0123456789abcdef")
    lines = [f"curl{verb} {ADDRESS}{at}{token}"]
    for type_, body in operation.get("requestBody", {}).get("content", {}).items():
        example = body["example"]
        said = example.rstrip("\n") if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
        lines.append(f" -H 'Content-Type: {type_}' -d '{said}'")
    return " \\\n ".join(lines)


def _content(api: dict[str, Any], title: str, described: dict[str, Any]) -> str:
    """The fields of what is sent, or of what is answered; nothing where it has none."""
    for type_, body in described.get("content", {}).items():
        schema = body.get("itemSchema", body["schema"])
        one = schema.get("anyOf", [schema])[0]  # of a stream's answers, those that are no problem
        if "$ref" in one:
            lines = ", a line each" if "itemSchema" in body else ""
            return _table(api, one["$ref"], f"{title}: {escape(type_)}{lines}", sent=title == "Send")
    return ""


def _parts(api: dict[str, Any]) -> str:
    """What fields are made of."""
    schemas = api["components"]["schemas"]
    within = json.dumps([schema.get("properties") for schema in schemas.values()])
    tables = "".join(
        _table(api, name, f"<b>{escape(name)}</b>: {escape(schema.get('description', ''))}", named=name)
        for name, schema in schemas.items()
        if f'schemas/{name}"' in within
    )
    return f"<section><h2>Parts</h2><p>What fields are made of.</p>{tables}</section>"


def _table(api: dict[str, Any], ref: str, caption: str, *, sent: bool = False, named: str = "") -> str:
    schema = api["components"]["schemas"][ref.rpartition("/")[2]]
    needed = schema.get("required", [])
    # Of a request it matters what is needed, of an answer what may be missing.
    notes = (", needed", "") if sent else ("", ", or left out")
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(facts)}{notes[name not in needed]}</td>"
        f"<td>{escape(facts.get('description', ''))}</td></tr>"
        for name, facts in schema["properties"].items()
    )
    anchor = f' id="{escape(named)}"' if named else ""
    return (
        f'<div {_SCROLLED} aria-label="Fields"><table{anchor}><caption>{caption}</caption><thead><tr><th>field</th>'
        "<th>type</th>"
        f"<th>meaning</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _type(facts: dict[str, Any]) -> str:
    if "anyOf" in facts:
        return " or ".join(_type(each) for each in facts["anyOf"] if each.get("type") != "null")
    if "$ref" in facts:
        name = escape(facts["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if facts.get("type") == "array":
        return f"list of {_type(facts['items'])}"
    return escape(str(facts.get("type", "any")))


def _problems() -> str:
    rows = "".join(
        f'<tr id="{kind}"><td>{row.status}</td><td><code>{kind}</code></td><td>{escape(row.title)}</td>'
        f"<td>{escape(row.advice)}</td></tr>"
        for kind, row in KINDS.items()
    )
    return (
        "<section><h2>Problems</h2><p>Every request that is not answered gets a problem (RFC 9457): type, title, "
        "status, detail, and the request's id as instance.</p>"
        f'<div {_SCROLLED} aria-label="Problems"><table><thead><tr><th>status</th><th>type</th><th>title</th>'
        "<th>what to do</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></div></section>"
    )
