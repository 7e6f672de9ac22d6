"""What all pages have in common."""

import base64
import hashlib
import json
import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import pages

any_text = st.text(st.characters() | st.sampled_from("<>&\u2028\u2029\x00\ud800\udfff/\\\"'"))


@given(
    st.recursive(any_text | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(any_text, inner))
)
def test_embedded_json_is_the_value_and_cannot_end_its_element(value):
    made = pages.embedded(value)
    assert json.loads(made) == value
    assert not set("<>&\u2028\u2029\ufeff") & set(made)
    made.encode("utf-8")  # a lone surrogate could not be written


def test_embedded_refuses_what_json_does_not_have():
    with pytest.raises(ValueError, match="JSON"):
        pages.embedded(float("nan"))


def test_the_policy_names_every_script_and_nothing_else():
    made = pages.document("t", "<p>body</p>", scripts=["one()", "two()"], style="p { color: red }", data={"d": 1})
    policy = re.search(r'content="(default-src[^"]*)"', made).group(1).replace("&#x27;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", made, re.S)
    styles = re.findall(r"<style>(.*?)</style>", made, re.S)

    def hashes(contents):
        return {f"'sha256-{base64.b64encode(hashlib.sha256(c.encode()).digest()).decode()}'" for c in contents}

    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert set(directives["script-src"].split()) == hashes(scripts)
    assert set(directives["style-src"].split()) == hashes(styles)
    assert directives["default-src"] == directives["connect-src"] == directives["base-uri"] == "'none'"
    assert len(scripts) == len(pages.SHARED) + 2
    assert "unsafe" not in policy


def test_a_title_is_text():
    made = pages.document("</title><script>alert(1)</script>\ud800", "")
    assert "<script>alert" not in made
    made.encode("utf-8")


def test_our_scripts_never_take_html():
    report = files("neardup.report").joinpath("report.js").read_text("utf-8")
    for script in (*map(pages.asset, pages.SHARED), report):
        assert not re.search(
            r"(inner|outer|adjacent)HTML|document\.write|eval\(|Function\(|srcdoc|setHTML", script, re.I
        )
