"""Codes and names as people type and paste them: what can't matter is ignored, and no more."""

from __future__ import annotations

import pytest

from idp.foundation.texts import typed_texts
from idp.identity.factors import totp
from idp.oauth.grants.device_authorization import user_code_of

SECRET = "JBSWY3DPEHPK3PXP"


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("123 456", id="a blank"),
        pytest.param("123\u00a0456", id="a no-break space"),
        pytest.param("123\u202f456", id="a narrow no-break space"),
        pytest.param("\t123456\r\n", id="ends of a line"),
        pytest.param("123-456", id="a hyphen"),
        pytest.param("123\u2013456", id="a dash"),
        pytest.param("123\u2212456", id="a minus sign"),
        pytest.param("\u200b123\ufeff456\u2060", id="zero width"),
        pytest.param("\u200e\u2066123456\u2069", id="direction marks"),
        pytest.param("１２３４５６", id="full width"),
        pytest.param("١٢٣٤٥٦", id="Arabic"),
        pytest.param("۱۲۳۴۵۶", id="Persian"),
        pytest.param("१२३४५६", id="Devanagari"),
        pytest.param("1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e3456", id="keycaps"),
        pytest.param("Code: 123456.", id="the words around it"),
        pytest.param("“123456”", id="quotation marks"),
    ],
)
def test_the_digits_of_a_code_are_read_however_they_were_typed(typed):
    assert typed_texts.digits(typed) == "123456"


@pytest.mark.parametrize(
    "typed",
    [
        *("WDJB-MJHT", "wdjbmjht", "WDJB MJHT", "wdjb\u00a0mjht", "WDJB\u2011MJHT"),
        *("WDJB\u2014MJHT", "WDJB\u2212MJHT", "ＷＤＪＢ－ＭＪＨＴ", "\u200bWDJB\u200dMJHT\ufeff"),
        *(
            "W D J B M J H T",
            "wdjb_mjht",
            "wdjb.mjht",
            "`WDJB-MJHT`",
            "(WDJB-MJHT)",
            "WDJB-MJHT.\n",
        ),
    ],
)
def test_a_user_code_is_read_however_it_was_typed(typed):
    assert user_code_of(typed) == "WDJBMJHT"


@pytest.mark.parametrize(
    "typed",
    ["", "-", "WDJB-MJH", "WDJB-MJHTX", "WDJB-MJH7", "WDJB-MJHÄ", "АDJB-MJHT", "+WDJBMJHTT"],
)
def test_what_could_be_another_user_code_is_none(typed):
    assert user_code_of(typed) is None


@pytest.mark.parametrize(
    "typed", ["12345", "1234567", "12E456", "123456 123456", "1²3456x7", "O12345"]
)
def test_other_digits_are_another_code(typed):
    assert typed_texts.digits(typed) != "123456"


@pytest.mark.parametrize(
    "typed", ["abcde-fghjk", "ABCDE FGHJK", "ａｂｃｄｅ–fghjk", "abcde\u00adfghjk\n"]
)
def test_a_recovery_code_is_read_however_it_was_typed(typed):
    assert typed_texts.alphanumeric(typed).lower() == "abcdefghjk"


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "JBSW Y3DP EHPK 3PXP",
            "jbswy3dpehpk3pxp",
            "JBSW-Y3DP\u2013EHPK\u00a03PXP",
            f"{SECRET}====",
        ),
        *(f"\u200b{SECRET}\n", "ＪＢＳＷY3DPEHPK3PXP"),
    ],
)
def test_a_secret_of_an_authenticator_app_is_read_however_it_was_copied(typed):
    assert totp.read_secret(typed) == SECRET


@pytest.mark.parametrize("typed", ["JBSW/Y3DP+EHPK3PXP", "JBSWY3DPEHPK3PX!", "0BSWY3DPEHPK3PXP"])
def test_a_secret_in_another_encoding_is_refused(typed):
    with pytest.raises(ValueError, match="not base32"):
        totp.read_secret(typed)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (" ada ", "ada"),
        ("ada\u00a0\n", "ada"),
        ("\ufeffada", "ada"),
        ("a\u200bda@x.ch\u200e", "ada@x.ch"),
        ("\u202aada\u202c", "ada"),
        ("ada lovelace", "ada lovelace"),
        ("ada.", "ada."),
        ("ADA", "ADA"),
        ("ada@نامه\u200cای.com", "ada@نامه\u200cای.com"),
        ("\u202eada", "\u202eada"),
        ("a\0da", "a\0da"),
    ],
)
def test_only_what_no_name_can_have_is_ignored_in_a_name(typed, name):
    assert typed_texts.name(typed) == name
