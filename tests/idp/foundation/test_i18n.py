"""The choice of a language, and how a text is put into it."""

import re

import pytest

from idp.config.settings import Config
from idp.foundation import i18n, pseudo_locale
from idp.foundation.i18n import Bundle, message

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]")
SHIPPED = ["ar", "de", "en", "fil", "he", "id", "nb", "pt-BR", "sr-Latn", "zh-Hans", "zh-Hant"]

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
def test_the_strongest_requested_class_that_can_be_met_decides(
    chosen, ui_locales, accept_language, found
):
    got = i18n.negotiate(chosen, ui_locales, accept_language, default="nb", shipped=SHIPPED)

    assert got == found


@pytest.mark.parametrize(
    ("chosen", "ui_locales", "accept_language", "found"),
    [(None, None, "de", "ar"), ("de", None, None, "de"), (None, "xx de", None, "de")],
)
def test_an_earlier_choice_outweighs_the_browser_alone(chosen, ui_locales, accept_language, found):
    got = i18n.negotiate(chosen, ui_locales, accept_language, shipped=SHIPPED, remembered="ar-EG")

    assert got == found


def test_a_language_tag_of_any_length_is_cut_before_it_is_compared(monkeypatch):
    compared = []
    monkeypatch.setattr(i18n, "_lookup", lambda tag, _: compared.append(tag))

    i18n.lookup("aa-" * 20_000, ["en"])

    assert [len(tag) for tag in compared] == [i18n.MAX_LENGTH]


def test_a_default_that_is_not_shipped_means_english():
    assert i18n.negotiate(None, None, None, default="tlh", shipped=SHIPPED) == "en"


def test_what_is_negotiated_can_be_loaded():
    assert i18n.load(i18n.negotiate(None, "de-CH en", "fr")).tag == "de"


@pytest.mark.parametrize("english", ["Sign in", "", "Back to %(application)s", "100 % sure"])
def test_the_pseudo_locale_is_longer_and_has_no_plain_letter(english):
    said = pseudo_locale.text(english)

    plain = PLACEHOLDER.sub("", english)
    assert len(PLACEHOLDER.sub("", said)) >= len(plain) * 1.4
    assert said[:1] + said[-1:] == pseudo_locale.BEGIN + pseudo_locale.END
    assert PLACEHOLDER.findall(said) == PLACEHOLDER.findall(english)
    assert not re.search("[A-Za-z]", PLACEHOLDER.sub("", said))


@pytest.mark.parametrize(
    ("issuer", "is_selectable"),
    [("http://localhost:8080", True), ("https://login.example.com", False)],
)
def test_the_pseudo_locale_is_for_developers_machines(issuer, is_selectable):
    selectable = i18n.selectable(has_pseudo_locale=Config(issuer=issuer).is_loopback)

    assert (pseudo_locale.TAG in selectable) == is_selectable
    assert set(i18n.available()) <= set(selectable)


ARABIC_SECONDS = {0: "الآن", 1: "ثانية واحدة", 2: "ثانيتين", 3: "3 ثوانٍ", 11: "11 ثانية"}
ARABIC_SECONDS |= {100: "100 ثانية", 103: "103 ثوانٍ", 111: "111 ثانية"}


@pytest.mark.parametrize(("n", "seconds"), ARABIC_SECONDS.items())
def test_arabic_counts_as_arabic_does(n, seconds):
    one, many = (
        f"Too many attempts. Try again in %(n)s {word}." for word in ("second", "seconds")
    )
    said = i18n.load("ar").text(message(one, plural=many, context="page", n=n))

    assert said.endswith(f" {seconds}.")
