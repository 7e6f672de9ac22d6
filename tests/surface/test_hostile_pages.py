"""No page costs more than its size allows, by structure and not by a clock; and no ordinary page is taken for one."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from neardup import nesting
from neardup.kernels.nesting import affordable
from neardup.text import extract
from neardup.text.extract import read_page
from tests.shapes import SHAPES

# fmt: off
TAGS = [
    "div", "p", "span", "b", "i a=1", "font color=1", "a", "nobr", "ul", "li", "dd", "h1", "table", "tr", "td",
    "caption",
    "select", "option", "optgroup", "button", "form", "svg", "foreignObject", "title", "desc", "math", "mi",
    "annotation-xml encoding=text/html", "annotation-xml", "template", "object", "noscript", "search", "details", "rt",
    "ruby", "pre", "x-y", "main", "address", "script", "style", "textarea", "frameset", "x/", "br",
]
# fmt: on
OTHERS = ["x", "<!--", "-->", "<![CDATA[", "]]>", "<!x>", "</>", "'", '"', "<a href='", '<div title="', "&lt;", "\n"]
PIECES = st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag.split()[0].strip('/')}>" for tag in TAGS] + OTHERS)
PAGES = st.tuples(st.lists(PIECES, max_size=5), st.lists(PIECES, min_size=1, max_size=7), st.integers(1, 700)).map(
    lambda made: ("".join(made[0]) + "".join(made[1]) * made[2]).encode()
)


def cpu(page: bytes, form: str) -> float:
    began = time.process_time()
    read_page(page, extract=form, links=True, url="http://e.example/")
    return time.process_time() - began


@pytest.mark.parametrize("name", SHAPES)
def test_time_is_linear_in_the_size(name):
    """Quadratic ones took forty seconds for 60 kB."""
    small, large = SHAPES[name](100_000), SHAPES[name](200_000)
    for form in ("all", "main", "web"):
        once = cpu(small, form)
        twice = cpu(large, form)
        assert twice < 1.0, form
        assert twice < 2.6 * once + 0.5, form


def depth_and_elements(page: bytes) -> tuple[int, int]:
    """Of the tree, without recursion."""
    deepest = elements = depth = 0
    node = HTMLTree.parse(page.decode("utf-8", "replace")).document
    while node is not None:
        elements += 1
        deepest = max(deepest, depth)
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node and node.next
    return deepest, elements


def check(page: bytes) -> None:
    assert affordable(page) == nesting.affordable(page)
    if affordable(page):
        deepest, elements = depth_and_elements(page)
        assert deepest <= 6 * nesting.DEEPEST
        assert elements <= 4 * (len(page) + nesting.REOPENED)


@given(PAGES)
@settings(max_examples=60, deadline=None)
def test_the_tree_is_no_deeper_than_the_bound(page):
    """Whatever closes what: an end tag that the parser passes over is not counted as closing."""
    check(page)


@pytest.mark.nightly
@given(PAGES)
@settings(max_examples=20_000, deadline=None)
def test_the_tree_is_no_deeper_than_the_bound_however_long_it_is_tried(page):
    check(page)
    most = 0.5 + 20e-6 * len(page)
    for form in ("all", "main", "web"):
        assert cpu(page, form) < most or cpu(page, form) < most  # once, the garbage collector may have run


@pytest.mark.parametrize(
    "page",
    [
        "<p>one<p>two" * 5_000,
        "<ul>" + "<li>item" * 9_000 + "</ul>",
        "<table>" + "<tr><td><font size=2>cell" * 5_000 + "</table>",
        "<dl>" + "<dt>term<dd>text" * 5_000 + "</dl>",
        "<select>" + "<option>choice" * 9_000 + "</select>",
        "<a name=x>text<h2>title</h2><p>" * 5_000,
        "<svg>" + "<path d='M0 0'/><title>x</title>" * 2_000 + "</svg>",
        "<script>if (a < b && '</div>') document.write('<div><div>')</script><div>x</div>" * 2_000,
        "<script><!-- document.write('<script></script>') --></script><div>x</div>" * 2_000,
        "<noscript><style><!-- p > a {} --></style><iframe src=x></iframe></noscript>" * 2_000,
        "<div><b><i>x</b></i></div>" * 500,
        "<div><span>x</div></span>" * 90,
    ],
)
def test_pages_as_people_write_them_have_a_tree(page):
    """Tags that nobody closes, because HTML closes them, make no page deep."""
    assert affordable(page.encode())


def test_a_page_beyond_the_bounds_keeps_its_words(monkeypatch):
    page = b"<title>t</title>" + b"<div>" * 5_000 + b"Fish &amp; chips</div> and peas"
    for form in ("all", "main"):
        assert read_page(page, extract=form)[0].split() == ["t", "Fish", "&", "chips", "and", "peas"]
    monkeypatch.setattr(extract, "_uncompiled", True)
    assert read_page(page)[0].split()[1] == "Fish"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "iso2022_jp", "cp037", "utf-8", "shift_jis", "gb18030"])
def test_the_encoding_hides_no_depth(encoding):
    """Bytes of ASCII are not characters of ASCII in every encoding."""
    page = ("<p>words</p>" + "<div>" * 16_000 + "x").encode(encoding)
    began = time.process_time()
    text, _ = read_page(page, charset=encoding, extract="main")
    assert text.split() == ["words", "x"]
    assert time.process_time() - began < 3
