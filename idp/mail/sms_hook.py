"""Text messages, which are posted to an address of the operator that sends them.

The request is signed: `t=SECONDS,v1=HEX` with the HMAC-SHA256 of `SECONDS.BODY` under the shared
secret, so that the receiver can check sender and time. `id` is the same at every attempt.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from pathlib import Path
from typing import Final

import msgspec

from idp.config.settings import Config
from idp.foundation import tracing
from idp.foundation.errors import ConfigError
from idp.mail.failures import NotSent
from idp.mail.messages import MailMessage
from idp.outgoing.failures import Failed
from idp.records import OutboxMessage
from idp.service import Service

# Client errors that are temporary.
_TEMPORARY: Final = (408, 425, 429)
_CLIENT_ERRORS: Final = range(400, 500)
_DELIVERED: Final = range(200, 300)


async def send(service: Service, mail: OutboxMessage, mail_message: MailMessage) -> str:
    """Posts a text message to the operator's address and returns the HTTP status of the response.
    `mail` is its record in the outbox, `mail_message` its contents. Raises NotSent."""
    secret = await asyncio.to_thread(_secret, service.config)
    payload = {
        "to": mail_message.to,
        "text": " ".join(mail_message.text.split()),
        "code": mail_message.code or "",
        "kind": mail.kind,
        "userId": mail.user_id or "",
        "id": mail.id,
    }
    body = msgspec.json.encode(payload)
    headers = {header(service.config): signature(secret, service.clock.now().timestamp(), body)}
    url = service.config.sms_hook_url
    try:
        with tracing.attempt(mail.attempts):
            status = await service.outgoing.post_own(url, body, headers)
    except Failed as error:
        raise NotSent(str(error)) from error
    if status not in _DELIVERED:
        is_final = status in _CLIENT_ERRORS and status not in _TEMPORARY
        raise NotSent(f"the hook answered {status}", is_final=is_final)
    return str(status)


def header(config: Config) -> str:
    """Returns the name of the HTTP header that contains the signature."""
    return f"x-{config.vendor}-signature"


def signature(secret: bytes, at: float, body: bytes) -> str:
    """Returns the value of the signature header for a request with this body at the time `at`, in
    seconds since 1970, by which the receiver can check sender and time."""
    seconds = str(int(at))
    digest = hmac.new(secret, seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


def check(config: Config) -> None:
    """Checks that the file with the secret of the signatures is usable, if an address for text
    messages is configured. Raises ConfigError."""
    if not config.sms_hook_url:
        return
    try:
        _secret(config)
    except NotSent as error:
        raise ConfigError([error.reason]) from error


def _secret(config: Config) -> bytes:
    """The secret of the signatures. Raises NotSent."""
    try:
        secret = Path(config.sms_hook_secret_file or "").read_bytes().strip()
    except OSError as error:
        raise NotSent(f"sms_hook_secret_file can't be read: {error}") from error
    if len(secret) < 16:
        raise NotSent("sms_hook_secret_file must hold 16 characters at least")
    return secret
