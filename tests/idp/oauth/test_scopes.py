from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.oauth import scopes
from idp.oauth.errors import InvalidScope

ALLOWED = [chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"\\']
TOKENS = st.text(ALLOWED, min_size=1, max_size=8)
CONFIG = SimpleNamespace(vendor="idp", issuer="https://id.example")
BOTH = ["authorization_code", "refresh_token"]
WITH_REFRESH = SimpleNamespace(grant_types=BOTH, has_management_access=False)
WITHOUT = SimpleNamespace(grant_types=BOTH[:1], has_management_access=False)
MANAGING = SimpleNamespace(grant_types=BOTH, has_management_access=True)


@pytest.mark.promise("scope: separated by spaces")
@settings(deadline=None)
@given(st.lists(TOKENS, max_size=6))
def test_scopes_are_read_in_their_order_each_once(sent):
    assert scopes.parse(" ".join(sent)) == list(dict.fromkeys(sent))


@pytest.mark.parametrize("text", [None, "", " ", "   "])
def test_a_text_without_a_scope_holds_none(text):
    assert scopes.parse(text) == []


@pytest.mark.promise("scope: separated by spaces")
@settings(deadline=None)
@given(TOKENS, st.characters().filter(lambda c: c not in ALLOWED and c != " "), TOKENS)
def test_any_other_character_is_malformed(before, other, after):
    with pytest.raises(InvalidScope):
        scopes.parse(f"openid {before}{other}{after}")


JOINED = ["openid,profile,email", "openid;profile", "openid+email", "openid|x", "openid%20email"]
JOINED += ["openid, profile", "profile ,openid", "openid,", "openid;  email"]
NOT_JOINED = ["email", "admin,user", "urn:idp:iam:org:project:role:a,b", "OPENID email"]


@pytest.mark.promise("scope: separated by spaces")
@pytest.mark.parametrize("text", [*JOINED, "openid\tprofile", "openid\nprofile", "x email,openid"])
def test_a_refusal_of_scopes_that_are_not_separated_by_spaces_says_so(text):
    refused = scopes.refusal("something else", text)

    assert refused.description == "scopes are separated by spaces, as in openid profile email"
    assert "one space" in refused.fix


@pytest.mark.parametrize("text", NOT_JOINED)
def test_a_refusal_of_other_scopes_says_what_is_wrong_with_them(text):
    assert scopes.refusal("something else", text).description == "something else"


@pytest.mark.parametrize("text", JOINED)
def test_every_refusal_of_a_scope_names_the_separator(text):
    with pytest.raises(InvalidScope, match="separated by spaces"):
        raise scopes.without_openid(text)
    with pytest.raises(InvalidScope, match="separated by spaces"):
        scopes.refuse_unknown(CONFIG, scopes.parse(text))
    with pytest.raises(InvalidScope, match="separated by spaces"):
        scopes.parse(text.replace(",", "\t").replace(";", "\n") + ' "')


def test_unknown_scopes_are_dropped_and_the_order_stays():
    wanted = ["email", "admin", "openid", "urn:idp:all", "OPENID", "profile"]

    assert scopes.grantable(CONFIG, WITH_REFRESH, wanted) == ["email", "openid", "profile"]


def test_offline_access_needs_the_refresh_grant():
    wanted = ["openid", "offline_access"]

    assert scopes.grantable(CONFIG, WITH_REFRESH, wanted) == wanted
    assert scopes.grantable(CONFIG, WITHOUT, wanted) == ["openid"]


def test_the_service_s_own_audience_needs_management_access():
    wanted = ["openid", "urn:idp:iam:org:project:id:idp:aud", "urn:idp:iam:user:metadata"]

    assert scopes.grantable(CONFIG, MANAGING, wanted) == wanted
    assert scopes.grantable(CONFIG, WITH_REFRESH, wanted) == [wanted[0], wanted[2]]


def test_a_scope_string_of_any_length_is_bounded():
    with pytest.raises(InvalidScope):
        scopes.parse("openid " + "a" * scopes.MAX_CHARACTERS)
