"""The check of documents: every link leads somewhere, and one command makes what is generated."""

from __future__ import annotations

import re

import pytest

from tests.support import documents


def test_every_link_of_a_document_leads_somewhere():
    assert documents.dead_links(documents.ROOT) == []


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("[a](other.md)", []),
        ("[a](gone.md)", ["gone.md"]),
        ("![a](gone.png)", ["gone.png"]),
        ("[a](other.md#two-words-here)", []),
        ("[a](other.md#same-1) [b](other.md#same)", []),
        ("[a](other.md#same-2)", ["other.md#same-2"]),
        ("[a](other.md#not-a-heading)", ["other.md#not-a-heading"]),
        ("# Here it is\n\n[a](#here-it-is) [b](#gone)", ["#gone"]),
        ("[a](https://example.com/gone) [b](mailto:x@example.com)", []),
        ("`[a](gone.md)`\n\n```\n[b](gone.md)\n```\n", []),
        ("[a]()", [""]),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, text, dead):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text(text)
    (tmp_path / "docs/other.md").write_text(
        "# Two words: *here*\n## Same\n## [Same](x.md)\n```\n# not a heading\n```\n"
    )

    found = [each for each in documents.dead_links(tmp_path) if "page.md" in each]

    assert found == [f"docs/page.md: {link}" for link in dead]


def test_every_program_that_a_page_names_as_its_maker_is_run():
    text = "\n".join(page.read_text(encoding="utf-8") for page in documents.pages(documents.ROOT))
    makers = set(re.findall(r"[Mm]ade by `?python -m ((?:\w+\.)+\w+)", text))

    assert makers <= set(documents.MAKERS)
    assert len(makers) >= 4


@pytest.mark.parametrize(
    ("changed", "dead", "arguments", "status"),
    [
        ([], [], ["--check"], 0),
        (["docs/a.md"], [], [], 0),
        (["docs/a.md"], [], ["--check"], 1),
        ([], ["docs/a.md: gone.md"], [], 1),
    ],
)
def test_the_check_fails_by_what_is_wrong(monkeypatch, capsys, changed, dead, arguments, status):
    monkeypatch.setattr(documents, "make", lambda _: changed)
    monkeypatch.setattr(documents, "dead_links", lambda _: dead)

    assert documents.main(arguments) == status
    assert len(capsys.readouterr().out.splitlines()) == len(changed) + len(dead)
