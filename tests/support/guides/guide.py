"""The parts of an integration guide that its preset does not have."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct


class Trouble(NamedTuple):
    """An error that users of a tool see: its message, the cause, and how to fix it.

    `message` is text as it is displayed or logged; a part that varies is `…`.
    """

    message: str
    cause: str
    fix: str


class Guide(Struct, frozen=True, kw_only=True):
    """The guide of one preset, in English and Markdown.

    `host` is the example of the tool's host, empty for a tool without an address of its own.
    `needs`, `steps` (to apply the configuration) and `test` are sentences, one for each item.
    `languages` are those of the preset's files, in their order, for highlighting. `troubles` are
    those of the tool itself. `tested_by` is the module under `tests/` that runs the configuration
    with the real program; empty if none does.
    """

    host: str = ""
    needs: tuple[str, ...]
    languages: tuple[str, ...]
    steps: tuple[str, ...] = ()
    test: tuple[str, ...]
    troubles: tuple[Trouble, ...] = ()
    tested_by: str = ""


# Sentences that several guides share.

HTTPS: Final = "A server for HTTPS in front of the program, unless it runs on `localhost`."
HELLO: Final = (
    "Open the address of the application and select **Sign in**.",
    "Sign in. The page then begins with `Hello`.",
)
PROFILE: Final = (
    "Open `/profile`: it shows claims of the user, also after the access token has expired."
)
GOODBYE: Final = "Select **Sign out**, then **Sign in**: the service asks for the password again."
