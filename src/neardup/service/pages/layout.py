"""One look for all pages: the header with its navigation, the templates, and what is sent.

page      a template and its values → what is sent
trouble   a problem as a page
header    the header alone, for a page that is made otherwise
above     the same with the parts of the collection

Templates are Jinja2's: everything in them is escaped, and a value that is missing is an error. Text of documents comes
from strangers: it passes `legible` or `plain` and stands in an element of its own (macros.html). The policy of
neardup.pages lets nothing run but the scripts that are named here.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from neardup.pages import document
from neardup.service.pages import showing
from neardup.service.pages.asking import Shown
from neardup.service.problems import Problem

if TYPE_CHECKING:
    from jinja2 import Environment

NAVIGATION = (
    ("Search", "/search"),
    ("Compare", "/compare"),
    ("Tune", "/tune"),
    ("Collection", "/collection"),
    ("API", "/docs"),
)


def page(
    title: str,
    template: str,
    *,
    at: str = "",
    status: int = 200,
    styles: Iterable[str] = (),
    scripts: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
    **values: Any,
) -> Shown:
    """A page. `at`: where it stands in the navigation; `styles`, `scripts`: names of files beside the templates."""
    made = document(
        f"{title} · neardup",
        _environment().get_template(template).render(navigation=NAVIGATION, at=at, **values),
        style="".join(map(asset, ("layout.css", *styles))),
        scripts=map(asset, scripts),
        data=data,
        connect="'self'",
        forms="'self'",
    )
    return Shown(made.encode("utf-8", "replace"), status)


def trouble(problem: Problem, at: str = "", id: str = "") -> Shown:
    """What is shown instead of a page. `id`: of the request, as it stands in the log."""
    return page(problem.title, "trouble.html", at=at, status=problem.status, problem=problem, id=id)


def header(at: str) -> str:
    """The header as HTML, for the page /docs; its style is the asset layout.css."""
    return _environment().get_template("header.html").render(navigation=NAVIGATION, at=at)


def above(at: str, within: str, api: str = "") -> str:
    """The header and the parts of the collection, as HTML, for pages that are made otherwise. `api`: where their
    scripts ask."""
    return _environment().get_template("above.html").render(navigation=NAVIGATION, at=at, within=within, api=api)


@cache
def asset(name: str) -> str:
    """A style or script from beside the templates."""
    return files(__package__).joinpath("templates", name).read_text("utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("neardup.service.pages", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("plain", "legible", "clipped", "percent", "many"):
        made.filters[name] = getattr(showing, name)
    made.globals["address"] = showing.address
    return made
