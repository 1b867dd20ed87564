"""The server of a scenario and the credentials for its requests: the same for the service and for
other providers."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

SCOPE: Final = "openid profile email"
PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - of people who do not exist


class Client(Struct, frozen=True):
    """A client and its secret."""

    id: str
    secret: str


class Machine(Struct, frozen=True):
    """A service user that gets tokens for itself, and its credentials."""

    client: Client
    pat: str = ""


class Party(Struct, frozen=True):
    """An authorization server: its endpoints, and the clients and users that send requests to it.

    `web` signs people in, `api` introspects, and `signer` gets JWTs by `jwt_form`. `cookies` are
    those of browsers with a live session; each token is of another sign-in. `forms` are what a
    person enters at the login pages, one after the other, with `{}` for the login name; `hidden`
    finds in a page the value of the hidden input that its form has.
    """

    host: str
    paths: dict[str, str]
    redirect_uri: str
    web: Client
    api: Client
    signer: Client
    cookie_name: str
    cookies: list[str]
    machines: list[Machine]
    login_names: list[str]
    forms: list[dict[str, str]]
    hidden: str = ""
    jwt_form: dict[str, str] = {}
    tokens: list[str] = []
    refresh_tokens: list[str] = []
