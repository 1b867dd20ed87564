import ast
import gettext
import io
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.pofile import read_po

from idp import i18n
from idp.i18n import Bundle, message
from locales import extract

ROOT = Path(__file__).parents[2]
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")
SHIPPED = ["ar", "de", "en", "fil", "he", "id", "nb", "pt-BR", "sr-Latn", "zh-Hans", "zh-Hant"]


@pytest.fixture(scope="module")
def sources():
    return {key(entry): entry for entry in extract.extracted(ROOT) if entry.id}


def key(entry):
    return entry.context, entry.id if isinstance(entry.id, str) else tuple(entry.id)


def forms(entry):
    return [entry.string] if isinstance(entry.string, str) else list(entry.string)


def read(tag):
    held = resources.files("locales").joinpath(f"{tag}.po").read_bytes()
    return read_po(io.BytesIO(held), locale=tag.replace("-", "_"))


def entries(tag):
    return [entry for entry in read(tag) if entry.id]


def translations(tag):
    """Each pair of a text and what it is in this language."""
    for entry in entries(tag):
        ids = [entry.id] if isinstance(entry.id, str) else list(entry.id)
        for at, form in enumerate(forms(entry)):
            yield ids[min(at, len(ids) - 1)], form


shipped = pytest.mark.parametrize("tag", i18n.available())
translated = pytest.mark.parametrize("tag", [t for t in i18n.available() if t != i18n.SOURCE])


def test_english_german_and_arabic_are_shipped():
    assert {"en", "de", "ar"} <= set(i18n.available())


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


@shipped
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


def test_texts_given_to_message_are_literals():
    """Anything else would never be seen by a translator."""
    for path in [*ROOT.glob("handlers/**/*.py"), *ROOT.glob("idp/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
                assert isinstance(node.args[0], ast.Constant), f"{path}:{node.lineno}"


POLISH = Bundle(
    "pl",
    {
        (None, "%(n)s file"): ("%(n)s plik", "%(n)s pliki", "%(n)s plików"),
        ("page", "Open"): ("Otwórz",),
        ("page", "Hello, %(name)s"): ("Cześć, %(name)s",),
    },
    lambda n: 0 if n == 1 else 1 if 2 <= n % 10 <= 4 and not 12 <= n % 100 <= 14 else 2,
)


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0 plików"), (1, "1 plik"), (3, "3 pliki"), (12, "12 plików")]
)
def test_the_number_chooses_the_plural_form(n, text):
    assert POLISH.ngettext("%(n)s file", "%(n)s files", n) == text
    assert POLISH.text(message("%(n)s file", plural="%(n)s files", n=n)) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 lamps"), (1, "1 lamp"), (2, "2 lamps")])
def test_a_text_that_a_language_lacks_is_shown_in_english(n, text):
    assert POLISH.npgettext("page", "%(n)s lamp", "%(n)s lamps", n) == text
    assert POLISH.pgettext("menu", "Open") == "Open"
    assert POLISH.gettext("Open") == "Open"


def test_the_caller_can_learn_that_a_text_is_not_translated():
    assert POLISH.is_translated("Open", "page")
    assert not POLISH.is_translated("Open", "menu")
    assert i18n.load("en").is_translated("whatever")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (message("Open", context="page"), "Otwórz"),
        (message("Open"), "Open"),
        (message("Hello, %(name)s", context="page", name="Ala"), "Cześć, Ala"),
        (message("100 % sure"), "100 % sure"),
        ("%(name)s stays", "%(name)s stays"),
    ],
)
def test_a_message_is_put_into_words_later(said, text):
    assert POLISH.text(said) == text


def test_a_message_with_a_plural_needs_its_number():
    with pytest.raises(TypeError):
        message("one", plural="many")


@pytest.mark.parametrize(
    ("tag", "direction", "endonym"),
    [("en", "ltr", "English"), ("de", "ltr", "Deutsch"), ("ar", "rtl", "العربية")],
)
def test_a_language_knows_its_direction_and_its_own_name(tag, direction, endonym):
    bundle = Bundle(tag, {}, lambda n: 0)

    assert (bundle.direction, bundle.endonym) == (direction, endonym)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("de", "de"),
        ("DE", "de"),
        ("de-AT", "de"),
        ("de_DE.UTF-8", "de"),
        ("de-Latn-AT-1996", "de"),
        ("en-u-rg-uszzzz", "en"),
        ("de-x-house", "de"),
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("zh-SG", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh_hk", "zh-Hant"),
        ("zh-MO", "zh-Hant"),
        ("zh-Hant-TW", "zh-Hant"),
        ("zh-Hans-HK", "zh-Hans"),
        ("no", "nb"),
        ("no-NO", "nb"),
        ("iw-IL", "he"),
        ("in", "id"),
        ("tl-PH", "fil"),
        ("sh", "sr-Latn"),
        ("sr-RS", "sr-Latn"),
        ("pt", "pt-BR"),
        ("pt-PT", "pt-BR"),
        ("ar-EG", "ar"),
        ("fr", None),
        ("", None),
        ("-", None),
        ("*", None),
        ("x-klingon", None),
        ("i-klingon", None),
        ("d", None),
        ("../en", None),
        ("🙂", None),
        ("de\0", None),
    ],
)
def test_the_nearest_shipped_language_is_found(wanted, found):
    assert i18n.lookup(wanted, SHIPPED) == found


@pytest.mark.parametrize(
    ("chosen", "ui_locales", "accept_language", "found"),
    [
        ("de", "ar", "he", "de"),
        ("fr", "ar", "he", "ar"),
        (None, "fr ar de", "he", "ar"),
        (None, "", "he", "he"),
        (None, None, None, "nb"),
        (None, "fr nl", "es", "nb"),
        (None, None, "fr, de;q=0.8, ar;q=0.9", "ar"),
        (None, None, "de;q=0.5, ar;q=0.5", "de"),
        (None, None, "de;q=0, ar;q=0.1", "ar"),
        (None, None, "de;q=0.000, fr", "nb"),
        (None, None, "fr, *;q=0.5, de;q=0.1", "nb"),
        (None, None, "DE ; Q=0.7 , ar;q=0.2", "de"),
        (None, None, "de;q=nan, ar;q=0.1", "ar"),
        (None, None, "de;q=-1, ar", "ar"),
        (None, None, ";;,,q=1,=", "nb"),
        (None, None, "zh-TW,zh;q=0.9,en;q=0.8", "zh-Hant"),
        (None, None, "pt-PT, en;q=0.9", "pt-BR"),
        (None, "\0 \ud800 <svg>", "\r\n", "nb"),
        ("x" * 100_000, "x " * 50_000, "x," * 50_000 + "de", "nb"),
        (None, "fr " * 19 + "de", None, "de"),
        (None, "fr " * 20 + "de", "ar", "ar"),
        (None, None, "fr," * 19 + "de", "de"),
        (None, None, "fr," * 20 + "de", "nb"),
        (None, "f" * 2045 + " de", None, "de"),
        (None, "f" * 2048 + " de", "ar", "ar"),
    ],
)
def test_the_strongest_wish_that_can_be_met_decides(chosen, ui_locales, accept_language, found):
    got = i18n.negotiate(chosen, ui_locales, accept_language, default="nb", shipped=SHIPPED)

    assert got == found


def test_a_default_that_is_not_shipped_means_english():
    assert i18n.negotiate(None, None, None, default="tlh", shipped=SHIPPED) == "en"


def test_what_is_negotiated_can_be_loaded():
    assert i18n.load(i18n.negotiate(None, "de-CH en", "fr")).tag == "de"
