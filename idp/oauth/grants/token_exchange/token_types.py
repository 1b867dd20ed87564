"""The types of token that a token exchange accepts, and what each may be used as (RFC 8693 3)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, TypeAlias

from idp.config.settings import Config

TokenType: TypeAlias = Literal["access_token", "id_token", "jwt", "user_id"]

SUBJECTS: Final[tuple[TokenType, ...]] = ("access_token", "id_token", "jwt", "user_id")
ACTORS: Final[tuple[TokenType, ...]] = ("access_token", "id_token")
REQUESTED: Final[tuple[TokenType, ...]] = ("access_token", "id_token", "jwt")
NEED_AN_ACTOR: Final[tuple[TokenType, ...]] = ("jwt", "user_id")


def identifier(config: Config, type: TokenType) -> str:
    """Returns the URI of a token type. The one of user ids is in this service's own namespace."""
    namespace = config.vendor if type == "user_id" else "ietf"
    return f"urn:{namespace}:params:oauth:token-type:{type}"


def read(config: Config, uri: str, among: Collection[TokenType]) -> TokenType | None:
    """Returns the token type with this URI if it is one of `among`, and None otherwise."""
    return next((type for type in among if identifier(config, type) == uri), None)
