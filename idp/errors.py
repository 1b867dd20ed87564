"""What the domain refuses or can't do, outside of the OAuth protocol.

Each error has a stable `slug` for programs and an English `message` for people who run the
service; neither ever holds a secret or a stored value::

    IdpError
    ├── NotFound        there is no such thing, or the caller may not know that there is
    ├── Busy            too much at once; `retry_after_seconds` tells when to come again
    │   └── HashingBusy (idp.identity.hashing) too many sign-ins wait for a password hash
    ├── ConfigError     the settings can't be used; `problems` lists every reason
    ├── WrongKey        (idp.vault) a sealed value belongs to another master key or was altered
    ├── PasswordRefused (idp.identity.passwords) a password that can't be hashed
    └── UnreadableHash  (idp.identity.schemes) a stored or imported hash that is not accepted
"""

from __future__ import annotations

from collections.abc import Sequence


class IdpError(Exception):
    """A refusal by the domain. `slug` is the class's unless the raiser knows better."""

    slug = "internal"

    def __init__(self, message: str, *, slug: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if slug is not None:
            self.slug = slug


class NotFound(IdpError):
    """There is no such thing, or the caller may not know that there is."""

    slug = "not_found"


class Busy(IdpError):
    """Too much at once; nothing was done, and it may be tried again."""

    slug = "busy"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ConfigError(IdpError):
    """The settings can't be used. `problems` are sentences, one for each reason."""

    slug = "config"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
