"""What no log line shows: secrets, whatever they are called, and characters that forge lines."""

from __future__ import annotations

import logging
import time
from enum import Enum

import pytest

from idp.foundation import logs, redaction
from idp.foundation.redaction import HIDDEN
from tests.idp.conftest import NOW

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl"

log = logs.logger("idp.test")


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Password",
        "newPassword",
        "password_hash",
        "passwordHash",
        "hash",
        "token",
        "access_token",
        "refreshToken",
        "id_token_hint",
        "code",
        "user_code",
        "deviceCode",
        "client_secret",
        "CLIENT_SECRET",
        "secret",
        "assertion",
        "client_assertion",
        "cookie",
        "Set-Cookie",
        "authorization",
        "Authorization",
        "code_verifier",
        "otp",
        "totp",
        "master_key",
        "privateKey",
        "pat",
        "nonce",
    ],
)
def test_a_field_that_holds_a_secret_by_its_name_is_hidden(stream, name):
    log.info("x", **{name: "canary-1"}, deeper={name: "canary-2", "list": [{name: 12345678}]})

    assert stream.getvalue().count(HIDDEN) == 3
    assert "canary" not in stream.getvalue()
    assert "12345678" not in stream.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        "token_type",
        "token_id",
        "grant_type",
        "status_code",
        "code_challenge_method",
        "key_id",
        "kid",
        "hash_algorithm",
        "token_endpoint",
        "password_changed",
        "passwordCount",
        "access_token_seconds",
        "user_id",
        "scope",
    ],
)
def test_a_field_that_only_speaks_of_secrets_is_shown(stream, lines, name):
    log.info("x", **{name: "shown"})

    assert lines()[0][name] == "shown"


@pytest.mark.parametrize("value", [True, False, None])
def test_whether_there_is_a_secret_may_be_returned(stream, lines, value):
    log.info("x", password=value)

    assert lines()[0]["password"] is value


@pytest.mark.parametrize(
    "text",
    [
        "GET /cb?code=canary&state=1",
        "GET /cb?id_token_hint=canary#x",
        "body: client_secret=canary&x=y",
        "grant_type=refresh_token&refresh_token=canary",
        "Authorization: Bearer canarycanary",
        "authorization: basic Y2FuYXJ5OmNhbmFyeQ==canary",
        JWT,
        f"token {JWT} expired",
        "mongodb://user:canary@host/idp",
        "http://host:80/x mongodb://user:canary@host/idp",
        "$argon2id$v=19$m=19456,t=2,p=1$canarycanary$canary",
        "x $2b$12$canarycanarycanary y",
        "password=canary",
    ],
)
def test_a_secret_within_a_text_is_hidden_by_its_shape(stream, text):
    log.info(text, reason=text)
    log.error("x", exc_info=ValueError(text))
    logging.getLogger("tornado.general").warning("bad: %s", text)

    assert stream.getvalue().count("\n") == 3
    assert stream.getvalue().count(HIDDEN) >= 4
    assert "canary" not in stream.getvalue()
    assert JWT not in stream.getvalue()


@pytest.mark.load
@pytest.mark.parametrize("part", ["://:", "://a:b", "eyJaaaaa-", "a=eyJaaaaa ", "password-"])
def test_no_text_of_a_stranger_takes_long_to_search(part):
    began = time.process_time()
    redaction.without_secrets(part * 40_000)

    assert time.process_time() - began < 5  # it took minutes


RANDOM = "Zm9vYmFyLWNhbmFyeS1jYW5hcnktY2FuYXJ5LTAwMDE"
SHAPES = [
    RANDOM,
    "JzXh1F0vQb2m4n6p8r0t2v" + RANDOM,
    "JzXh1F0vQb2m4n6p8r0t2v" + RANDOM * 2,
    "idp_pat_JzXh1F0vQb2m4n6p8r0t2v" + RANDOM,
    f"v1.JzXh1F0vQb2m4n6p8r0t2v.{RANDOM}",
]


@pytest.mark.parametrize("secret", SHAPES)
@pytest.mark.parametrize(
    "around", ["{}", "the value {}.", "/ui/{}/x", "a={}", f"{'x/' * 145}{{}}"]
)
def test_what_this_service_issues_is_hidden_wherever_it_is(stream, secret, around):
    log.info("x", path=around.format(secret))

    assert HIDDEN[:5] in stream.getvalue()
    assert secret[:8] not in stream.getvalue()
    assert secret[-8:] not in stream.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "JzXh1F0vQb2m4n6p8r0t2v",
        "0190b1c2-7a3d-7f00-8000-0123456789AB",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "a-slug-that-is-much-longer-than-forty-three-characters-without-capitals",
        "https://client.example/callback/of/an/application?tenant=1&Next=/Home",
    ],
)
def test_ids_and_addresses_stay_readable(lines, text):
    log.info("x", user_id=text)

    assert lines()[0]["user_id"] == text


def test_ordinary_texts_stay_as_they_are(stream, lines):
    for text in (
        "scope=openid&state=a",
        "a basic question",
        "$5 and $6",
        "größer",
        "a\\b",
        "100 %",
    ):
        log.info("x", text=text)

    assert [each["text"] for each in lines()][0] == "scope=openid&state=a"
    assert [each["text"] for each in lines()][2:] == ["$5 and $6", "größer", "a\\b", "100 %"]


@pytest.mark.parametrize("format", ["json", "text"])
@pytest.mark.parametrize(
    "character",
    ["\n", "\r", "\x00", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\u202e", "\ud800"],
)
def test_no_character_breaks_a_line_or_paints_the_terminal(stream, format, character):
    logs.configure("info", format, stream=stream)

    log.info(f"a{character}b", **{f"k{character}": f"x{character}time=forged"})
    logs._Standard().handle(logging.LogRecord("x", 30, "", 0, "a%sb", (character,), None))

    assert len(stream.getvalue().splitlines()) == 2
    assert character not in stream.getvalue().replace("\n", "") or character == "\n"


def test_long_values_are_cut(stream, lines):
    log.info(
        "e" * 5000, text="x" * 5000, many=list(range(1000)), wide={str(n): n for n in range(99)}
    )

    (line,) = lines()
    assert line["event"] == "e" * 300 + "…"
    assert line["text"] == "x" * 300 + "…"
    assert len(line["many"]) == redaction.MAX_ITEMS
    assert len(line["wide"]) == redaction.MAX_ITEMS


def test_values_that_are_no_json_are_described(stream, lines):
    class Colour(str, Enum):
        RED = "red"

    nested = {"a": {"b": {"c": {"d": {"e": "too deep"}}}}}
    log.info(
        "x", at=NOW, colour=Colour.RED, octets=b"canary", huge=2**70, error=KeyError("k"),
        other=object(), nested=nested, nan=float("nan"), many={"b"}, number={1: 2},
    )  # fmt: skip

    (line,) = lines()
    assert line["at"] == "2026-03-04T05:06:07.089Z"
    assert (line["colour"], line["octets"], line["other"]) == ("red", "<bytes>", "<object>")
    assert (line["huge"], line["error"], line["nan"]) == ("a large number", "KeyError: 'k'", None)
    assert (line["many"], line["number"]) == (["b"], {"1": 2})
    assert "too deep" not in stream.getvalue()
