"""Henzinger's terms of a page, its links and its site."""

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import MissingExtra, UsageError
from neardup.text import sites, web
from neardup.text.sites import host, site
from neardup.text.web import links, plain_text, text_and_links, web_text
from tests.naive import web as naive
from tests.naive.text import words

HERE = "http://www.example.org/docs/page.html"


def terms(markup, url=HERE):
    return words(web_text(markup, host=None, page_url=url))


def image(text):
    return "ximg" + naive.one_run(text)


# What counts as text


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("foo<b>bar</b>", "foobar"),
        ("foo<B CLASS='x'>bar</B >baz", "foobarbaz"),
        ("foo<p>bar</p>baz", "foo bar baz"),
        ("foo<a href=x>bar</a>", "foo bar"),
        ("foo<br>bar<br/>baz<hr/>", "foo bar baz"),
        ("H<sub>2</sub>O long<wbr>word", "h2o longword"),
        ("foo<!-- not -->bar", "foo bar"),
        ("foo<!-->bar<!--->baz<!-- a --!>qux<!----- b --->end", "foo bar baz qux end"),
        ("foo<!-- <b> > -- -> not", "foo"),
        ("<!DOCTYPE html><?xml version='1.0'?><![CDATA[x]]>foo</>bar</ x>baz", "foo bar baz"),
        ("a<script>if (a<b) not('</p>')</script>b<SCRIPT src=x>not</scripts></ScRiPt\n>c", "a b c"),
        ("a<style>p { not }</style>b", "a b"),
        ("a<template>not<template>not</template>not<img src=n.png></template>b", "a b"),
        ("</template>a", "a"),
        ("a<iframe src=x>not<b></iframe>b<noframes><p>not</noframes>c", "a b c"),
        ("<noscript>seen</noscript>", "seen"),
        ("<title>A &amp; <b>B</b></title>c<textarea><p>d</textarea>", "a b b b c p d"),
        ("<xmp>&amp;<p></xmp>e", "amp p e"),
        ("1 < 2 <3 a<", "1 2 3 a"),
        ("<p title=\"a > b\" x='c>d'>seen", "seen"),
        ('<p "title>seen">', "seen"),
        ('<p title=a"b>seen', "seen"),
        ('<p a=="b>seen', "seen"),
        ("<p title = 'x>y' z>seen", "seen"),
        ("seen<p title='not", "seen"),
        ("seen<p title='not>", "seen"),
        ("seen<p not", "seen"),
        ("seen<img src=not.png", "seen"),
        ("seen<img src='not.png>", "seen"),
        ("seen<script>not", "seen"),
        ("", ""),
        ("caf&eacute; &#233;&#xE9; AT&T &notit; &ampx &copy2 a&nbsp;b", "café éé at t it x 2 a b"),
        ("&#0; &#x110000; a&#99999999999;b &#x80; c&#00000000000000000065;", "a b ca"),
        ("a&am<b>p;</b>b", "a amp b"),
        ("foo&lt;b&gt;bar", "foo b bar"),
    ],
)
def test_markup(markup, expected):
    assert terms(markup) == words(expected)


# URLs in the text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at www.cs.berkeley.edu/index.html.", ["at", "www", "cs", "berkeley", "edu", "index", "html"]),
        ("http://a.org/x", ["http", "a", "org", "x"]),
        ("(see HTTPS://A.org/B-c)", ["see", "https", "a", "org", "xurlbx2dc"]),
        ("ftp://a.org/~me/x_y.z?a=b&c", ["ftp", "a", "org", "xurlx7eme", "xurlx78x5fy", "xurlzx3fax3dbx26c"]),
        ("a.org/x-y", ["a", "org", "x", "y"]),
        ("awww.x-y", ["awww", "x", "y"]),
        ("xhttp://x-y", ["xhttp", "x", "y"]),
        ("见www.x-y.cn，好", ["见", "www", "xurlx78x2dy", "cn", "好"]),
        ("http:// x-y www. x-y", ["http", "x", "y", "www", "x", "y"]),
        ("http://a.org:80/", ["http", "a", "xurlorgx3a80"]),
        ("http://xurlx2d.org/XurlA", ["http", "xurlx78urlx782d", "org", "xurlx78urla"]),
        ('"http://a.org/x-y","b-c"', ["http", "a", "org", "xurlx78x2dy", "b", "c"]),
        ("[http://a.org/x-y]", ["http", "a", "org", "xurlx78x2dy"]),
    ],
)
def test_urls_in_the_text(text, expected):
    assert words(plain_text(text)) == expected
    assert words(plain_text(text)) == naive.terms_of_text(text)
    assert terms(text.replace("&", "&amp;")) == expected


def test_a_url_goes_on_through_formatting_and_ends_at_other_markup():
    assert terms("http://<b>a-b</b>.org/<wbr>c<p>-d") == ["http", "xurlax2db", "org", "c", "d"]


@given(st.lists(st.text("axX2d78-_?u", min_size=1, max_size=5), min_size=2, max_size=2, unique_by=str.lower))
def test_different_pieces_are_different_terms(pieces):
    one, other = (words(plain_text(f"http://xurl{piece}.z/{piece}/z")) for piece in pieces)
    assert len(one) == len(other) == 5
    assert one[1] != other[1]
    assert one[3] != other[3]


# Images


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<img src='a/b.png'>", "b.png"),
        ('<IMG SRC="/a/b.png?x=1#y">', "b.png"),
        ("<img alt='x > src=no.png' src=b.png/>", ""),
        ("<img src = b.png>", "b.png"),
        ("<img src=b.png src=c.png>", "b.png"),
        ("<img data-src=no.png srcset='no.png 2x' src=B.png>", "B.png"),
        ("<img src='&#98;.p&#x6e;g?a&copy=1'>", "b.png"),
        ("<img src=' \n b\n.png '>", "b.png"),
        ("<img src='a\\b.png'>", "b.png"),
        ("<img src='http://www.example.org/a/b.png'>", "b.png"),
        ("<img src='HTTP://WWW.Example.ORG:80/a/b.png'>", "b.png"),
        ("<img src='https://www.example.org:443/a/b.png'>", "b.png"),
        ("<img src='http://u:p@www.example.org./a/b.png'>", "b.png"),
        ("<img src='//www.example.org/b.png'>", "b.png"),
        ("<img src='//CDN.example.org/b.png'>", "//cdn.example.org/b.png"),
        ("<img src='http://www.example.org:8080/b.png'>", "http://www.example.org:8080/b.png"),
        (
            "<img src='http://cdn.example.org/A/b.png?x=1&amp;y=2&copy=3'>",
            "http://cdn.example.org/A/b.png?x=1&y=2&copy=3",
        ),
        ("<img src='blob:x'>", "blob:x"),
        ("<img src='/a/'>", ""),
        ("<img src='é.png'>", "é.png"),
    ],
)
def test_an_image_is_a_term(tag, expected):
    assert terms(f"a{tag}b") == ["a", image(expected), "b"]


@pytest.mark.parametrize(
    "tag", ["<img>", "<img src>", "<img src=''>", "<img src=>", "<img alt='src=x'>", "<imgs src=x>"]
)
def test_no_image(tag):
    assert terms(f"a{tag}b") == ["a", "b"]


def test_an_image_given_as_data_has_a_digest():
    one, other = (terms(f"<img src='data:image/png;base64,{x * 5000}'>")[0] for x in "AB")
    assert one != other
    assert len(one) == len(other) < 40
    assert one == terms("<img src='DATA:image/png;base64," + "A" * 5000 + "'>", None)[0]


def test_the_base_counts():
    own = [image("b.png")]
    assert terms("<base href='/other/'><img src=b.png>") == own
    assert terms("<base href='http://www.example.org/x'><img src=b.png>") == own
    there = [image("http://cdn.example.org/x/b.png")]
    assert terms("<base href='http://cdn.example.org/x/y'><img src=b.png>") == there
    assert terms("<img src=b.png><base href='http://cdn.example.org/x/y'><base href=/>") == there
    assert terms("<base href='//cdn.example.org/x/y'><img src=../b.png>") == [image("http://cdn.example.org/b.png")]
    assert terms("<base href='javascript:x'><img src=b.png>") == own
    assert terms("<!-- <base href='http://cdn.example.org/'> --><img src=b.png>") == own


def test_without_a_host_absolute_urls_are_of_others():
    page = "<base href='http://a.org/'><img src=x/b.png><img src=http://a.org/b.png>"
    assert terms(page, None) == [image("b.png"), image("http://a.org/b.png")]


def test_the_host_may_be_given_without_a_url():
    for name in ("a.org", "A.ORG.", "a.org:80"):
        assert words(web_text("<img src=http://a.org/b.png>", host=name)) == [image("b.png")]
    assert words(web_text("<img src=http://a.org:81/b.png>", host="a.org:81")) == [image("b.png")]
    assert terms("<img src=http://a.org/b.png>", "a.org/page") == [image("b.png")]


def test_a_page_mirrored_with_its_images_has_the_same_terms():
    def page(place):
        return f"<p>Text<img src='{place}/img/a-1.png?v=2'><img src=/img/b.gif><img src=http://cdn.example.net/c.png>"

    original = terms(page("http://one.example.com"), "http://one.example.com/x/page.html")
    assert terms(page("https://mirror.example.org:8080/m"), "https://mirror.example.org:8080/m/page.html") == original
    assert terms(page("//mirror.example.org"), "http://mirror.example.org/") == original
    assert terms(page("http://one.example.com"), "http://mirror.example.org/") != original


# Against the twin

TEXT = st.text("ab xX.,-/:é&<>日0", max_size=8).map(lambda t: t.replace("&", "&amp;").replace("<", "&lt;"))
ADDRESS = st.sampled_from(
    [
        "http://a.org/x-y",
        "www.cs.berkeley.edu/~a",
        "HTTP://A-b.c/",
        "ftp://x_y",
        "https://a.b/?c=d&amp;e",
        "www.",
        "x.y/z",
    ]
)
SOURCES = st.sampled_from(
    ["a.png", "/b/C-d.gif?x", "../e.jpg", "//cdn.net/f.png", "http://www.example.org/g.png", "data:image/png,xyz",
     "http://cdn.net/H.png?a=1&amp;b=2", "http://www.example.org:8080/i.png", "j%20k.png", "x/y/"]
)  # fmt: skip
HREFS = st.sampled_from(
    ["a", "b/c.html#d", "../e?f=g", "/h", "#i", "", "http://k.org/l#m", "javascript:n()", "mailto:a@b.c", "?o", "./p.q",
     "//r.org/s", ".t", "../../../u"]
)  # fmt: skip
NAMES = st.sampled_from(
    ["b", "i", "span", "FONT", "p", "div", "td", "li", "em", "h1", "sup", "SCRIPT", "style", "template"]
)
QUOTED = st.sampled_from(["'", '"'])


def element(name, inside, quote):
    if name in ("SCRIPT", "style"):
        inside = "not(text)"
    return f"<{name} title={quote}a &gt; > b{quote}>{inside}</{name}>"


CONTENT = st.recursive(
    TEXT
    | ADDRESS
    | st.builds(lambda s, q: f"<img alt={q}x{q} src={q}{s}{q}>", SOURCES, QUOTED)
    | st.builds(lambda s, q: f"<A class=x HREF={q}{s}{q}>x</A>", HREFS, QUOTED)
    | st.sampled_from(["<br>", "<br/>", "<!-- not -->", "<iframe src=/v></iframe>", "<area href=w>", " "]),
    lambda inner: (
        st.builds(element, NAMES, st.lists(inner, max_size=4).map("".join), QUOTED)
        | st.lists(inner, max_size=4).map("".join)
    ),
    max_leaves=20,
)
BASES = st.sampled_from(["", "<base href='/base/x'>", "<base href='http://cdn.net/y/z'>"])
PAGES = st.builds(lambda base, *body: f"<!DOCTYPE html><title>t</title>{base}{''.join(body)}", BASES, CONTENT, CONTENT)


@settings(max_examples=300, deadline=None)
@given(PAGES)
def test_as_the_twin(markup):
    assert terms(markup) == naive.terms(markup, HERE)
    assert links(markup, HERE) == naive.links(markup, HERE)
    assert text_and_links(markup, host=None, page_url=HERE) == (
        web_text(markup, host="www.example.org", page_url=HERE),
        links(markup, HERE),
    )


@settings(max_examples=300, deadline=None)
@given(st.text("ab xX.,-/:wWhtps_é日([", max_size=30))
def test_plain_text_as_the_twin(text):
    text = text + " http://" + text + " www." + text
    assert words(plain_text(text)) == naive.terms_of_text(text)


@given(st.text("<>ab/=\"'! -?&#;", max_size=60))
def test_any_markup_is_read(markup):
    text, found = text_and_links(f"a {markup}", host=None, page_url=HERE)
    assert words(text)[0][0] == "a"
    assert all("\n" not in link for link in found)


# Links


def test_links_in_order_without_fragments():
    page = """<frame src=/f><a name=x><a href="a&amp;b#c">x</a><A HREF='?q'><area href=//o.org:80/><a href=#top>
    <a href="JavaScript:go()"><a href="d\nata:x"><a href=" /x/../y\n/./z "><link href=no>
    <img src=no><!-- <a href=no> --><script><a href=no></script>"""
    assert links(page, None) == ["/f", "a&b", "?q", "//o.org/", "/x/../y/./z"]
    assert links(page, HERE) == [
        "http://www.example.org/f",
        "http://www.example.org/docs/a&b",
        "http://www.example.org/docs/page.html?q",
        "http://o.org/",
        "http://www.example.org/y/z",
    ]
    assert links(page, "www.example.org/docs/page.html") == links(page, HERE)
    assert links("<a href=x><base href='http://b.org/c/d'><a href=y>", HERE) == ["http://b.org/c/x", "http://b.org/c/y"]


@pytest.mark.parametrize(
    ("href", "expected"),
    [  # RFC 3986, section 5.4, where a path or query is resolved
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("g#s", "http://a/b/c/g"),
        (";x", "http://a/b/c/;x"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("mailto:x@y", "mailto:x@y"),
    ],
)  # fmt: skip
def test_links_are_resolved(href, expected):
    assert links(f"<a href='{href}'>", "http://a/b/c/d;p?q") == [expected]


# Linear time

HOSTILE = [
    '<a "', "<a ", "<", "<b><p>", '<a href="', "<a href='<a href=\"", "<!--", "<!--->-", "<script>", "<script></script",
    "<title></titl", "<template>", "&#x41&am", "<img src=a>", "</", "<!", "http://", "www.-", "<a href=../a>", ":wWw://",
]  # fmt: skip
INSIDE = [("<img ", "a=b "), ("<!--", "--!"), ("<img src='http://b/", "/../."), ("<base href='http://b/", "/../.")]


def took(page):
    """Seconds of this processor, so that others' work does not count."""
    best = 60.0
    for _ in range(3):
        began = time.process_time()
        text_and_links(page, host=None, page_url=HERE)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize(("opening", "part"), [*(("", part) for part in HOSTILE), *INSIDE, ("http://a", "./-")])
def test_linear_time(opening, part):
    small, large = (opening + part * (size // len(part)) for size in (250_000, 1_000_000))
    assert took(large) < 10 * took(small) + 0.05  # 4 times the work; 16 times if it were quadratic


def test_nothing_is_nested_too_deep():
    page = "<div>" * 100_000 + "x" + "</div>" * 100_000
    assert terms(page) == ["x"]


@pytest.mark.parametrize("different", [True, False])
def test_a_long_base_does_not_multiply(different):
    names = [f"0.{i if different else 0}" for i in range(20_000)]
    page = f"<base href='http://b/{'a/' * 100_000}'>" + "".join(f"<a href={n}><img src={n}>" for n in names)
    text, found = text_and_links(page, host="c.org")
    assert len(found) == len(text.split()) == 20_000
    assert found[0].startswith("http://b/a/")
    assert found[-1] == names[-1]
    assert sum(map(len, found)) < web._ROOM * len(page) + web._SPARE + len(page)
    assert len(text) < 3 * (web._ROOM * len(page) + web._SPARE + len(page))


# Sites


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("www.cs.berkeley.edu/index.html", "cs.berkeley.edu"),
        ("http://www.cs.berkeley.edu/index.html", "cs.berkeley.edu"),
        ("http://berkeley.edu", "berkeley.edu"),
        ("HTTP://Me:Secret@WWW.Example.ORG.:8080/x?y#z", "example.org"),
        ("//a.example.org/x", "example.org"),
        ("localhost:8000/x", "localhost"),
        ("http://localhost", "localhost"),
        ("example.org:80", "example.org"),
        ("http://192.168.0.1:80/x", "192.168.0.1"),
        ("http://[2001:db8::1]:8080/x", "[2001:db8::1]"),
        ("http://www.bücher.example/", "xn--bcher-kva.example"),
        ("http://1.2.3/x", "2.3"),
        (" http://www.a.org?x ", "a.org"),
        ("www.amazon.co.uk", "amazon.co.uk"),
        ("amazon.co.uk", "co.uk"),
        ("file:///etc/x", None),
        ("/just/a/path", None),
        ("mailto:me@example.org", None),
        ("data:text/plain,x", None),
        ("http://", None),
        ("http://[broken/x", None),
        ("not a url", None),
        ("...", None),
        ("", None),
        (None, None),
    ],
)
def test_sites_by_henzingers_rule(url, expected):
    assert site(url) == expected


@given(st.lists(st.text("abc-", min_size=1, max_size=4).map(lambda t: f"a{t}"), min_size=1, max_size=5).map(".".join))
def test_sites_as_the_twin(domain):
    assert site(f"https://{domain}/x/y.z") == site(domain) == naive.site(domain)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.cs.berkeley.edu/", "berkeley.edu"),
        ("amazon.co.uk", "amazon.co.uk"),
        ("http://www.Amazon.co.uk:80/x", "amazon.co.uk"),
        ("http://co.uk/", "co.uk"),
        ("http://me.github.io/", "me.github.io"),
        ("http://a.b.no-such-suffix", "b.no-such-suffix"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("http://localhost/", "localhost"),
        ("http://www.食狮.com.cn/", "xn--85x722f.com.cn"),
        (None, None),
    ],
)
def test_sites_by_the_public_suffix_list(url, expected):
    assert site(url, "public-suffix") == expected


def test_sites_without_the_list(monkeypatch):
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    sites._public_suffixes.cache_clear()
    assert site("http://a.b.org") == "b.org"
    with pytest.raises(MissingExtra, match=r"neardup\[web\]"):
        site("http://a.b.org", rule="public-suffix")
    with pytest.raises(UsageError, match="choose henzinger or public-suffix"):
        site("http://a.b.org", rule="other")  # type: ignore[arg-type]


@given(st.text(max_size=40))
def test_any_string_has_a_host_or_none(url):
    for text in (url, f"http://{url}", f"//{url}/x"):
        found = host(text)
        assert found is None or (found and "/" not in found)
        site(text)
        site(text, "public-suffix")
