"""The files of the languages: whole, harmless, and in step with the sources."""

import ast
import gettext
import io
import re
import unicodedata
from functools import cache
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.pofile import read_po

from idp.foundation import i18n, pseudo_locale
from locales import extract

ROOT = Path(__file__).parents[3]
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")


@pytest.fixture(scope="module")
def sources():
    return {key(entry): entry for entry in extract.extracted(ROOT) if entry.id}


def key(entry):
    return entry.context, entry.id if isinstance(entry.id, str) else tuple(entry.id)


def ids_of(entry):
    return [entry.id] if isinstance(entry.id, str) else list(entry.id)


def forms(entry):
    return [entry.string] if isinstance(entry.string, str) else list(entry.string)


@cache
def read(tag):
    """The catalogue, of the source language the template; nobody changes it."""
    name = "messages.pot" if tag == i18n.SOURCE else f"{tag}.po"
    held = resources.files("locales").joinpath(name).read_bytes()
    return read_po(io.BytesIO(held), locale=tag.replace("-", "_"))


def entries(tag):
    return [entry for entry in read(tag) if entry.id]


def translations(tag):
    """Each pair of a text and what it is in this language."""
    for entry in entries(tag):
        ids = ids_of(entry)
        for at, form in enumerate(forms(entry)):
            yield ids[min(at, len(ids) - 1)], form


shipped = pytest.mark.parametrize("tag", i18n.available())
translated = pytest.mark.parametrize("tag", [t for t in i18n.available() if t != i18n.SOURCE])


# Which letters a language is written with, where it is not the Latin ones.
SCRIPTS = {"ar": "ARABIC", "ja": "HIRAGANA KATAKANA CJK FULLWIDTH", "zh-Hans": "CJK FULLWIDTH"}
# What stays as it is in every language: placeholders, addresses, codes, names of standards.
FOREIGN = re.compile(r"%\(\w+\)s|\S*[_./@:=$0-9#]\S*|\b[A-Z][A-Z0-9-]+\b|\b[A-Z]\w*[A-Z]\w*")


def test_the_languages_that_are_promised_are_shipped():
    promised = {"en", "de", "fr", "it", "es", "pt-BR", "nl", "pl", "ja", "zh-Hans", "ar"}

    assert promised <= set(i18n.available())


@translated
def test_hardly_a_message_is_as_in_english(tag):
    pairs = list(translations(tag))
    same = [text for text, form in pairs if text == form]

    assert len(same) < 0.05 * len(pairs), same


@translated
def test_a_language_is_in_its_own_script(tag):
    names = SCRIPTS.get(tag, "LATIN").split()
    letters = [
        letter
        for _, form in translations(tag)
        for letter in FOREIGN.sub("", form)
        if letter.isalpha()
    ]
    own = [letter for letter in letters if unicodedata.name(letter).startswith(tuple(names))]

    assert len(own) >= 0.8 * len(letters)


@pytest.mark.full
@shipped
def test_a_bundle_has_the_messages_of_the_sources_and_no_others(tag, sources):
    held = {key(entry) for entry in entries(tag)}

    advice = "run: python -m locales.extract, and translate what is empty"
    assert (set(sources) - held, held - set(sources)) == (set(), set()), advice


@translated
def test_every_message_is_translated_in_every_plural_form(tag):
    catalog = read(tag)
    empty = [
        key(entry)
        for entry in catalog
        if entry.id
        and (
            entry.fuzzy
            or not all(forms(entry))
            or len(forms(entry)) != (1 if isinstance(entry.id, str) else catalog.num_plurals)
        )
    ]

    assert empty == []


def test_english_says_what_the_messages_say():
    assert [form for entry in entries("en") for form in forms(entry) if form] == []
    assert not resources.files("locales").joinpath("en.po").is_file()


@pytest.mark.full
def test_the_template_is_what_the_extractor_makes_of_the_sources():
    """In any order: it changes when a module moves, until the extractor runs again."""
    held = resources.files("locales").joinpath("messages.pot").read_bytes()
    made = extract.written(extract.extracted(ROOT))

    advice = "run: python -m locales.extract"
    assert sorted(held.split(b"\n\n")) == sorted(made.split(b"\n\n")), advice


def test_the_source_language_has_the_plural_forms_of_its_template():
    english, expression = i18n.load(i18n.SOURCE), read(i18n.SOURCE).plural_expr
    index = gettext.c2py(expression)

    assert extract.SOURCE == i18n.SOURCE
    assert english.tag == i18n.SOURCE
    for n in range(1000):
        assert english.ngettext("one", "many", n) == ("one", "many")[index(n)]


def numbers_of(catalog, at):
    """Numbers that take this plural form."""
    index = gettext.c2py(catalog.plural_expr)
    return [n for n in range(1000) if index(n) == at]


@translated
def test_placeholders_are_those_of_the_message(tag):
    """A plural form that stands for one number alone may leave the number unsaid."""
    catalog = read(tag)
    differing = []
    for entry in catalog:
        needed = set(PLACEHOLDER.findall(entry.id if isinstance(entry.id, str) else entry.id[-1]))
        for at, form in enumerate(forms(entry)):
            is_plural = not isinstance(entry.id, str)
            unsaid = {"%(n)s"} if is_plural and len(numbers_of(catalog, at)) == 1 else set()
            if entry.id and not needed - unsaid <= set(PLACEHOLDER.findall(form)) <= needed:
                differing.append((key(entry), form))

    assert differing == []


@translated
def test_the_plural_forms_are_those_of_the_language(tag):
    """As CLDR has them: whatever the order, the same numbers share a form."""
    catalog = read(tag)
    index = gettext.c2py(catalog.plural_expr)
    known = Locale.parse(tag, sep="-").plural_form
    pairs = {(index(n), known(n)) for n in range(1000)}

    assert {at for at, _ in pairs} == set(range(catalog.num_plurals))
    assert len(pairs) == len({at for at, _ in pairs}) == len({name for _, name in pairs})


@shipped
def test_every_message_is_in_the_pseudo_locale(tag):
    pseudo = i18n.load(pseudo_locale.TAG)

    missing = [e.id for e in entries(tag) if not pseudo.is_translated(ids_of(e)[0], e.context)]
    assert missing == []


@shipped
def test_messages_hold_no_markup(tag):
    class Finder(HTMLParser):
        found = False

        def handle_starttag(self, *_):
            self.found = True

        handle_endtag = handle_comment = handle_decl = handle_starttag

    def has_markup(text):
        finder = Finder()
        finder.feed(text)
        return finder.found or re.search(r"&#?\w+;", text)

    assert [said for pair in translations(tag) for said in pair if has_markup(said)] == []


@translated
def test_a_bundle_says_who_reviewed_it(tag):
    assert re.search(r"^# reviewed: (human|machine)$", read(tag).header_comment, re.MULTILINE)


@shipped
def test_the_extractor_keeps_translations_and_the_note_on_review(tag):
    catalog = read(tag)

    again = read_po(io.BytesIO(extract.written(catalog)), locale=tag.replace("-", "_"))

    held = {key(entry): entry.string for entry in catalog if entry.id}
    assert {key(entry): entry.string for entry in again if entry.id} == held
    assert again.header_comment == catalog.header_comment
    assert again.plural_expr == catalog.plural_expr


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('message("a")', (None, ("a",))),
        ('message("a %(n)s", n=3)', (None, ("a %(n)s",))),
        ('message("a", kind="b", context="login")', ("login", ("a",))),
        ('i18n.message("a", plural="b", n=n)', (None, ("a", "b"))),
        ('message("a", n=n, plural="b", context="c")', ("c", ("a", "b"))),
        ('_("a " "b")', (None, ("a b",))),
        ('bundle.pgettext("login", "a")', ("login", ("a",))),
        ('ngettext("a", "b", 3)', (None, ("a", "b"))),
        ("message(text)", None),
    ],
)
def test_texts_of_python_code_are_found(tmp_path, call, found):
    (tmp_path / "locales").mkdir()
    (tmp_path / "handlers").mkdir()
    (tmp_path / "locales/babel.cfg").write_bytes((ROOT / "locales/babel.cfg").read_bytes())
    (tmp_path / "handlers/some.py").write_text(f"# TRANSLATORS: Seen.\n{call}\n")

    catalog = [entry for entry in extract.extracted(tmp_path) if entry.id]

    seen = [(e.context, (e.id,) if isinstance(e.id, str) else tuple(e.id)) for e in catalog]
    assert seen == ([found] if found else [])
    assert [entry.auto_comments for entry in catalog] == [["Seen."]] * len(seen)


@pytest.mark.full
def test_texts_given_to_message_are_literals():
    """Anything else would never be seen by a translator."""
    for path in [*ROOT.glob("handlers/**/*.py"), *ROOT.glob("idp/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
                assert isinstance(node.args[0], ast.Constant), f"{path}:{node.lineno}"
