"""Redaction of log lines: no secrets, bounded length, no character that breaks a line.

A secret is recognised by its field's name (`client_secret`, `code`, `passwordHash` …) and, within
texts such as a library's messages, by its form. In doubt a value is hidden: a name that contains a
word for secrets is logged only if its last word is known to be harmless.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Final

from storage.codec import instant_text

HIDDEN: Final = "[hidden]"
MAX_TEXT: Final = 300
MAX_NAME: Final = 60
MAX_READ: Final = 8000  # of a text; the rest is dropped
MAX_TRACEBACK: Final = 8000
MAX_ITEMS: Final = 30
MAX_DEPTH: Final = 4

SECRET_WORDS: Final = frozenset(
    {
        "password",
        "passwords",
        "passwd",
        "secret",
        "secrets",
        "token",
        "tokens",
        "code",
        "codes",
        "assertion",
        "cookie",
        "cookies",
        "authorization",
        "hash",
        "verifier",
        "credential",
        "credentials",
        "otp",
        "pin",
        "totp",
        "pat",
        "bearer",
        "key",
        "keys",
        "dpop",
        "nonce",
        "challenge",
    }
)
HARMLESS_LAST_WORDS: Final = frozenset(
    {
        "id",
        "ids",
        "type",
        "kind",
        "method",
        "seconds",
        "count",
        "at",
        "status",
        "name",
        "scheme",
        "algorithm",
        "length",
        "endpoint",
        "lifetime",
        "policy",
        "changed",
        "verified",
    }
)
HARMLESS_NAMES: Final = frozenset({"status_code", "error_code", "exit_code", "response_code"})

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:-]{0,42}")
_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PARAMETER: Final = re.compile(
    r"(?i)\b([a-z_]*(?:password|secret|token|token_hint|assertion|code|verifier|cookie))"
    r"(=|%3D)[^&\s'\"<>;,)]+"
)
_SCHEME: Final = re.compile(r"(?i)\b(basic|bearer|dpop)\s+[A-Za-z0-9._~+/=-]{8,}")
# The last group of these two may be empty, and then nothing is hidden: a search that fails begins
# again at each later place, and anonymous clients choose the texts.
_JWT: Final = re.compile(r"\beyJ[A-Za-z0-9_-]{5,}((?:\.[A-Za-z0-9_-]*)*)")
_URL_PASSWORD: Final = re.compile(r"(://[^/\s:@'\"]*):[^@\s'\"]+(@?)")
_SEALED: Final = re.compile(r"\bv1\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}")
# Random secrets such as codes, refresh tokens, client secrets and personal access tokens: at least
# 43 characters, among which upper and lower case letters both occur practically always.
_RANDOM: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{43,}"
)
_HASH: Final = re.compile(r"\$[A-Za-z0-9-]{1,20}\$[^\s'\"]{8,}")


def fields(values: Mapping[str, object]) -> dict[str, object]:
    """Returns the fields of a log line as values that JSON has, without secrets and with bounded
    lengths and depth."""
    return _mapping(values, MAX_DEPTH)


def text(value: str, max_characters: int = MAX_TEXT) -> str:
    """Returns the text on one line, without recognisable secrets, cut after `max_characters`
    characters."""
    if len(value) <= max_characters and _PLAIN.fullmatch(value) and "eyJ" not in value:
        return value  # the fast path for nearly every value
    value = without_secrets(value[:MAX_READ])  # first, because half a secret can't be recognised
    return visible(value if len(value) <= max_characters else f"{value[:max_characters]}…")


def visible(value: str) -> str:
    """Returns the text with escapes in place of characters that break a line or change its
    direction."""
    return _CONTROL.sub(_escaped, value)


def without_secrets(value: str) -> str:
    """Returns the text without recognisable secrets."""
    for pattern, replacement in _PATTERNS:
        value = pattern.sub(replacement, value)
    return value


def lines(value: str) -> str:
    """Returns a text of several lines, such as a traceback, without recognisable secrets.

    Of a long one only the end is returned.
    """
    text_without_secrets = without_secrets(value[-MAX_TRACEBACK:])
    return "\n".join(visible(line) for line in text_without_secrets.split("\n"))


def is_secret(name: str) -> bool:
    """Returns whether a field of this name is secret, so that its value is not logged."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not SECRET_WORDS.intersection(words) or "_".join(words) in HARMLESS_NAMES:
        return False
    return words[-1] not in HARMLESS_LAST_WORDS


def _value(value: object, depth: int) -> object:
    if type(value) is str:
        return text(value)
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, Enum):
        return _value(value.value, depth)
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else "a large number"
    if isinstance(value, str):
        return text(str(value))
    return _structured_value(value, depth)


def _structured_value(value: object, depth: int) -> object:
    if isinstance(value, datetime) and value.tzinfo:
        return instant_text(value)
    if isinstance(value, BaseException):
        return text(f"{type(value).__name__}: {value}")
    if depth and isinstance(value, Mapping):
        return _mapping(value, depth - 1)
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [_value(item, depth - 1) for item in list(value)[:MAX_ITEMS]]
    return f"<{type(value).__name__}>"  # a record or bytes, whose repr may contain secrets


def _mapping(values: Mapping[str, object], depth: int) -> dict[str, object]:
    rendered = {}
    for name, value in list(values.items())[:MAX_ITEMS]:
        name = str(name)
        rendered_name, is_secret_name = (
            _name(name) if len(name) <= MAX_NAME else _name.__wrapped__(name)
        )
        is_hidden = is_secret_name and value is not None and not isinstance(value, bool)
        rendered[rendered_name] = HIDDEN if is_hidden else _value(value, depth)
    return rendered


@lru_cache(1024)
def _name(name: str) -> tuple[str, bool]:
    """Returns the name of a field as it is logged, and whether its value is hidden."""
    rendered = text(name, MAX_NAME)
    return rendered, is_secret(rendered)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _unless_last_group_is_empty(replacement: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match.expand(replacement) if match[match.re.groups] else match[0]


_PATTERNS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (_PARAMETER, rf"\1\2{HIDDEN}"),
    (_SCHEME, rf"\1 {HIDDEN}"),
    (_JWT, _unless_last_group_is_empty(HIDDEN)),
    (_SEALED, HIDDEN),
    (_RANDOM, HIDDEN),
    (_HASH, HIDDEN),
    (_URL_PASSWORD, _unless_last_group_is_empty(rf"\1:{HIDDEN}@")),
)
