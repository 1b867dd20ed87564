"""`idp key2jwt`: prints an assertion with which a service user or an application authenticates."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

import click
import msgspec
from msgspec import Struct

from idp.cli.fields import read_data
from idp.foundation import base64url, durations
from idp.foundation.clock import SystemClock
from idp.foundation.randomness import Random, SystemRandom

_MAX_LIFETIME: Final = timedelta(hours=1)


class KeyFile(Struct, frozen=True, rename="camel"):
    """The key file that `idp key create` writes: a private key in PEM (`key`), its id, and the id
    of the service user or the application that owns it.
    """

    key_id: str
    key: str
    user_id: str = ""
    client_id: str = ""


@click.command(short_help="Create an assertion from a key file.")
@click.argument("file", metavar="KEY_FILE")
@click.option("--audience", metavar="URL", required=True, help="The issuer of the service.")
@click.option("--expires", metavar="DURATION", default="1h", help="The lifetime, at most 1h.")
def key2jwt(file: str, audience: str, expires: str) -> None:
    """Print the assertion that a service user sends to the token endpoint (RFC 7523), or an
    application as its client_assertion. Example: idp key2jwt key.json --audience
    https://login.example.com
    """
    try:
        key = msgspec.json.decode(read_data(file), type=KeyFile)
        lifetime = durations.parse(expires)
    except msgspec.DecodeError as error:
        raise click.UsageError(f"{file} is not a key file: {error}") from None
    except ValueError:
        raise click.UsageError(f"--expires {expires} is not a duration such as 1h") from None
    if not timedelta() < lifetime <= _MAX_LIFETIME:
        raise click.UsageError("--expires must be more than 0s and at most 1h")
    click.echo(assertion(key, audience, lifetime, SystemClock().now(), SystemRandom()))


def assertion(
    key: KeyFile, audience: str, lifetime: timedelta, now: datetime, random: Random
) -> str:
    """Returns a JWT, signed with `key`, by which the key's owner authenticates (RFC 7523 3).
    Raises click.UsageError if the key cannot sign.
    """
    name = key.user_id or key.client_id
    issued_at = int(now.timestamp())
    claims = {
        "iss": name,
        "sub": name,
        "aud": audience,
        "iat": issued_at,
        "exp": issued_at + int(lifetime.total_seconds()),
        "jti": random.id(),
    }
    header = {"alg": "RS256", "kid": key.key_id}
    signing_input = ".".join(
        base64url.encode(msgspec.json.encode(part)) for part in (header, claims)
    )
    return f"{signing_input}.{base64url.encode(_sign(key.key, signing_input.encode()))}"


def _sign(pem: str, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    from idp.keys.algorithms import ALGORITHMS

    try:
        private: Any = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise click.UsageError("the key in the file can't be read") from error
    if not isinstance(private, RSAPrivateKey):
        raise click.UsageError("the key in the file is not an RSA key")
    return ALGORITHMS["RS256"].sign(private, data)
