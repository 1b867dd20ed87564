"""The types of token that a token exchange accepts, and the uses of each (RFC 8693 3)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, TypeAlias

from idp.config.settings import Config

TokenType: TypeAlias = Literal["access_token", "id_token", "jwt", "user_id"]

SUBJECTS: Final[tuple[TokenType, ...]] = ("access_token", "id_token", "jwt", "user_id")
ACTORS: Final[tuple[TokenType, ...]] = ("access_token", "id_token")
REQUESTED: Final[tuple[TokenType, ...]] = ("access_token", "id_token", "jwt")
NEED_AN_ACTOR: Final[tuple[TokenType, ...]] = ("jwt", "user_id")


def identifier(config: Config, kind: TokenType) -> str:
    """Returns the URI of a token type. The type of user ids has a URI in this service's own
    namespace."""
    namespace = config.vendor if kind == "user_id" else "ietf"
    return f"urn:{namespace}:params:oauth:token-type:{kind}"


def read(config: Config, uri: str, accepted: Collection[TokenType]) -> TokenType | None:
    """Returns the token type with this URI if it is one of `accepted`, and None otherwise."""
    return next(
        (token_type for token_type in accepted if identifier(config, token_type) == uri), None
    )
