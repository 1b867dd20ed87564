"""Messages that were reworded, and how stored texts follow."""

from __future__ import annotations

import tomllib
from importlib import resources

from babel.messages.catalog import Catalog

from idp.foundation import i18n
from idp.foundation.localization import rewordings
from idp.policies import page_texts
from idp.records import LoginText, LoginTextRules
from locales import reword

ENTRIES = tomllib.loads(resources.files("locales").joinpath("reword.toml").read_text())["message"]


def test_a_former_wording_leads_to_the_present_one():
    assert rewordings.current("reset", "Forgot your password?") == "Forgot password?"
    assert rewordings.current("reset", "Forgot password?") == "Forgot password?"
    assert rewordings.current("page", "Forgot your password?") == "Forgot your password?"


def test_no_wording_is_listed_twice_and_none_is_both_former_and_present():
    former = [(entry["context"], entry["old"]) for entry in ENTRIES]
    present = {(context, id) for context, id in i18n.singulars()}

    assert len(former) == len(set(former))
    assert present & set(former) == set()


class Stored:
    def __init__(self, *texts):
        self.rules = LoginTextRules("en", [LoginText(*each) for each in texts])


def test_a_text_that_was_set_for_a_former_wording_replaces_the_present_one(monkeypatch):
    monkeypatch.setattr(page_texts, "Policy", Stored)
    found = page_texts.texts_of(
        Stored(
            ("reset", "Forgot your password?", "Lost it?"),
            ("reset", "A text that is on no page any more", "Gone"),
        )
    )

    assert found == {("reset", "Forgot password?"): "Lost it?"}


def test_a_renamed_message_keeps_its_translation_if_it_says_the_same():
    catalog = Catalog(locale="de")
    catalog.add("Old", "Alt", context="page")
    catalog.add(("%(n)s old", "%(n)s olds"), ("%(n)s alter", "%(n)s alte"), context="page")
    catalog.add("Other", "Anders", context="page")

    assert reword.renamed(catalog, "page", "Old", "New", keeps_translation=True)
    assert reword.renamed(catalog, "page", "%(n)s old", "%(n)s new", keeps_translation=True)
    assert reword.renamed(catalog, "page", "Other", "Another", keeps_translation=False)
    assert not reword.renamed(catalog, "page", "Old", "New", keeps_translation=True)
    assert catalog.get("New", "page").string == "Alt"
    assert catalog.get("%(n)s new", "page").string == ("%(n)s alter", "%(n)s alte")
    assert catalog.get("Another", "page").string == ""
    assert catalog.get("Old", "page") is None
