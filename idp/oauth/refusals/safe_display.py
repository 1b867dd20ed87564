"""Redaction of request parameters: only the words that every client sends may be displayed.

A secret in the wrong parameter is a common mistake. So a value is displayed only as far as it
consists of its parameter's known words, and an address only if it is one; of everything else the
length is displayed.
"""

from __future__ import annotations

import re
from typing import Final

from idp.foundation import redaction
from idp.oauth.refusals.details import characters, quoted

_MAX_WORDS: Final = 30
_SEPARATORS: Final = re.compile(r"([\s,;+|]+|%20|%2b|%2c)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"\s*[a-z][a-z0-9+.-]{0,60}(:/|%3a%2f|%253a%252f)", re.IGNORECASE)
_ADDRESSES: Final = {"post_logout_redirect_uri", "redirect_uri"}
_URN: Final = r"urn:ietf:params:oauth:"
_TOKEN_TYPE: Final = (
    rf"{_URN}token-type:(access_token|refresh_token|id_token|jwt|saml1|saml2)"
    r"|urn:[a-z0-9-]{1,40}:params:oauth:token-type:user_id"
)
# Words that this service does not accept are listed, too, because they explain a refusal.
_WORDS: Final = {
    "Content-Type": r"(application/(x-www-form-urlencoded|json|xml|jwt|octet-stream)"
    r"|multipart/form-data|text/(plain|html|xml)|charset=\"?(utf-?8|iso-8859-1|us-ascii)\"?)",
    "client_assertion_type": rf"{_URN}client-assertion-type:(jwt|saml2)-bearer",
    "code_challenge_method": r"plain|s256|sha-?256",
    "display": r"page|popup|touch|wap",
    "grant_type": r"authorization[_-]?code|code|refresh[_-]?token|password|client[_-]?credentials"
    rf"|implicit|hybrid|{_URN}grant-type:(device_code|jwt-bearer|saml2-bearer|token-exchange)",
    "max_age": r"-?\d{1,7}(\.\d{1,3})?(ms|s|sec|m|min|h|d)?",  # a code by mail has eight digits
    "method": r"get|head|post|put|patch|delete|options|trace|connect|sign-in",
    "prompt": r"none|login|select_account|create|consent|signup|register|auto|force",
    "actor_token_type": _TOKEN_TYPE,
    "requested_token_type": _TOKEN_TYPE,
    "subject_token_type": _TOKEN_TYPE,
    "response_mode": r"query|fragment|form_post|web_message|(query\.|fragment\.|form_post\.)?jwt",
    "response_type": r"code|id_token|token|none",
    "scope": r"openid|profile|email|phone|address|groups|offline_access|offline",
    "ui_locales": r"[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?",
}
_KNOWN: Final = {name: re.compile(words, re.IGNORECASE) for name, words in _WORDS.items()}


def value(name: str, text: str) -> str | None:
    """Returns the value `text` of the parameter `name` as it may be displayed, on one line.

    Unknown words are replaced by their lengths. None if nothing of it may be displayed.
    """
    if name in _ADDRESSES:
        return redaction.text(text) if _ADDRESS.match(text) else None
    allowed = _KNOWN.get(name)
    if allowed is None:
        return None
    # The separators stay in the result, because a wrong one is often the mistake.
    parts = _SEPARATORS.split(text, maxsplit=_MAX_WORDS)
    # Without one known word the whole value may be a secret, and its separators are part of it.
    if not any(allowed.fullmatch(word) for word in parts[::2]):
        return None
    parts[::2] = [
        word if not word or allowed.fullmatch(word) else f"[{characters(word)}]"
        for word in parts[::2]
    ]
    return redaction.text("".join(parts))


def length_in_words(text: str) -> str:
    """Returns words for a value that may not be displayed, such as `43 characters`.

    They also say whether a space or a line break is at one of its ends.
    """
    suffix = ", with a space or a line break at an end" if text != text.strip() else ""
    return characters(text) + suffix


def in_words(name: str, text: str) -> str:
    """Returns the value `text` of the parameter `name` for a sentence: quoted, or its length."""
    displayed = value(name, text)
    return f"a value of {characters(text)}" if displayed is None else quoted(displayed)
