"""Refused requests, stored for a week so that an administrator can find out what went wrong.

The response says little to the client, the record has all details, and neither has a secret: a
client_id is stored if an application has it, and of other values only what
`idp/oauth/refusals/safe_display.py` allows.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct, structs

from idp.foundation import logs, redaction, tracing
from idp.oauth.endpoints import check_order, held_refusals
from idp.oauth.endpoints.check_order import Endpoint
from idp.oauth.endpoints.held_refusals import HeldRefusal
from idp.oauth.errors import InvalidClient, OAuthError, RequestRefused, UnusableRequest
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals import explain, safe_display
from idp.oauth.refusals.details import characters
from idp.oauth.scopes import OFFLINE_ACCESS
from idp.records import APPLICATIONS, Application, AuthRequest
from idp.records.refusals import REFUSALS, MadeCheck, Refusal, SentParameter
from idp.service import Service
from storage import Insert, StorageError

LIFETIME: Final = timedelta(days=7)
_WRITE_SECONDS: Final = 1.5
_MAX_PARAMETERS: Final = 30
_MAX_CLIENTS: Final = 3
_ID_CHARACTERS: Final = 200
_MAX_REGISTERED: Final = 20
_MAX_RECORDS: Final = 50
# Random by design: a part of their hash distinguishes two values, and reveals nothing else.
_COMPARABLE: Final = {
    "access_token",
    "code",
    "code_verifier",
    "device_code",
    "id_token_hint",
    "refresh_token",
}
_RANDOM_CHARACTERS: Final = 43
_PARAMETER_NAME: Final = re.compile(r"[a-z_]{1,30}")
_FORM_TYPE: Final = "application/x-www-form-urlencoded"
_SCHEMES: Final = {"basic", "bearer", "dpop"}

DROPPED_SCOPE: Final = (
    "The scope offline_access is left out: the application is not registered for refresh tokens"
    " (the grant type refresh_token)."
)

_log = logs.logger(__name__)


class RefusedRequest(Struct, frozen=True):
    """The parts of a refused request that its record is made from.

    `pairs` are the parameters, `authorization` the header of that name, and `method` the HTTP
    method or `sign-in`. `sender` is the key by which stored refusals are limited, usually
    `network_keys.client_key`; it is not stored.
    """

    request_id: str
    endpoint: Endpoint
    method: str
    pairs: Sequence[tuple[str, str]] = ()
    authorization: str | None = None
    content_type: str | None = None
    client_id: str | None = None
    sender: str = ""


async def store(service: Service, refused: RefusedRequest, error: RequestRefused) -> None:
    """Stores a refusal before the response is sent. Raises nothing; waits 1.5 seconds at most.

    Of many refusals in a short time only some of each `refused.sender` are stored at once. Those
    beyond that of an application's client_id are stored within the next seconds, the newest 200
    (`held_refusals`); the others are in the log alone.
    """
    if error.check is not None:
        tracing.record_refusal(error.check.name)
    is_held = not service.refusal_rate.allows(service.clock.now(), refused.sender)
    try:
        async with asyncio.timeout(_WRITE_SECONDS):
            await (_hold if is_held else _store_now)(service, refused, error)
    # A refusal that cannot be stored must not change the response to the client.
    except (StorageError, TimeoutError) as failure:
        _log.warning("refusal not stored", error=type(failure).__name__)


async def _hold(service: Service, refused: RefusedRequest, error: RequestRefused) -> None:
    ids = [each for each in (error.client_id, *_claimed_ids(refused)) if each]
    record = _record(service, refused, error, ids[:1])
    dropped_scope = DROPPED_SCOPE if _requests_offline_access(refused) else ""
    await held_refusals.hold(service, HeldRefusal(record, dropped_scope))


async def _store_now(service: Service, refused: RefusedRequest, error: RequestRefused) -> None:
    clients = await _clients(service, refused)
    record = _record(service, refused, error, [client.id for client in clients])
    sentence = " ".join([record.sentence, *_dropped_scopes(refused, clients)])
    await service.store.commit(Insert(REFUSALS, structs.replace(record, sentence=sentence)))


async def store_for_sign_in(service: Service, request: AuthRequest, error: RequestRefused) -> None:
    """Stores the refusal of a sign-in that has reached a page, with the main parameters of
    `request`.

    It is `store`, but the number of stored refusals is limited per application and not per
    network. Raises nothing.
    """
    refused = RefusedRequest(
        request_id=logs.current_request_id() or "",
        endpoint="authorize",
        method="sign-in",
        pairs=[
            ("client_id", request.client_id),
            ("redirect_uri", request.redirect_uri),
            ("response_type", request.response_type),
            ("scope", " ".join(request.scopes)),
            ("prompt", " ".join(request.prompt)),
        ],
        sender=request.client_id,  # the limit is one per application here, as the user has acted
    )
    await store(service, refused, error)


async def find(service: Service, request_id: str) -> list[Refusal]:
    """Returns the refusals of this request id, newest first.

    There are several where a caller sends the same request id of its own more than once.
    """
    if not logs.is_request_id(request_id):
        return []
    page = await service.store.find(
        REFUSALS,
        {"request_id": request_id},
        order="created_at",
        descending=True,
        limit=_MAX_RECORDS,
    )
    return page.records


async def newest(service: Service, client_id: str | None = None) -> Refusal | None:
    """Returns the newest refusal, of this client if one is named; None when there is none."""
    where = {} if client_id is None else {"client_id": client_id}
    page = await service.store.find(REFUSALS, where, order="created_at", descending=True, limit=1)
    return page.records[0] if page.records else None


def _claimed_ids(refused: RefusedRequest) -> list[str]:
    """Returns the client_ids that were sent."""
    sent = [refused.client_id, *(value for name, value in refused.pairs if name == "client_id")]
    return [
        client_id
        for client_id in dict.fromkeys(sent)
        if client_id and len(client_id) <= _ID_CHARACTERS
    ][:_MAX_CLIENTS]


async def _clients(service: Service, refused: RefusedRequest) -> list[Application]:
    """Returns the applications whose client_ids were sent."""
    ids = _claimed_ids(refused)
    records = await service.store.get_many([(APPLICATIONS, client_id) for client_id in ids])
    return [client for client in records if client]


def _record(
    service: Service,
    refused: RefusedRequest,
    error: RequestRefused,
    client_ids: Sequence[str],
) -> Refusal:
    """Returns the record of a refusal; the `client_ids` are those that may be shown."""
    now = service.clock.now()
    return Refusal(
        id=service.random.id(),
        request_id=refused.request_id,
        endpoint=refused.endpoint,
        method=safe_display.value("method", refused.method) or characters(refused.method),
        error=error.code if isinstance(error, OAuthError) else getattr(error, "error_code", ""),
        told=error.description if isinstance(error, OAuthError) else "",
        sentence=_sentence(error),
        created_at=now,
        expires_at=now + LIFETIME,
        client_id=error.client_id or next(iter(client_ids), None),
        sent=list(_sent_parameters(refused, client_ids)),
        registered=_registered(error),
        checks=_checks_made(refused.endpoint, error),
        rule=error.check.rule if error.check else "",
        fix=_fix(error),
    )


def _dropped_scopes(refused: RefusedRequest, clients: Sequence[Application]) -> Iterable[str]:
    """Yields a sentence for each scope that a code request does not get, whatever its result."""
    for client in clients[:1]:
        if _requests_offline_access(refused) and "refresh_token" not in client.grant_types:
            yield DROPPED_SCOPE


def _requests_offline_access(refused: RefusedRequest) -> bool:
    sent = dict(refused.pairs)
    is_for_code = sent.get("response_type", "code") == "code"
    return is_for_code and OFFLINE_ACCESS in sent.get("scope", "").split()


def _sentence(error: RequestRefused) -> str:
    if isinstance(error, UnusableRequest):
        return explain.details(error)
    description = error.reason if isinstance(error, InvalidClient) else error.description
    return error.details or refusal_details.sentence(description)


def _fix(error: RequestRefused) -> str:
    if isinstance(error, UnusableRequest):
        return explain.fix(error)
    return error.fix or (error.check.fix if error.check else "")


def _registered(error: RequestRefused) -> list[str]:
    values = error.registered if isinstance(error, UnusableRequest) else ()
    return [redaction.text(value) for value in values[:_MAX_REGISTERED]]


def _checks_made(endpoint: Endpoint, error: RequestRefused) -> list[MadeCheck]:
    """Returns the checks in their order: those that passed, then the one that failed."""
    if error.check is None:
        return []
    passed_checks = check_order.passed(endpoint, error.check)
    checks = [MadeCheck(name=check.name, says=check.says, passed=True) for check in passed_checks]
    return [*checks, MadeCheck(name=error.check.name, says=error.check.says, passed=False)]


def _sent_parameters(refused: RefusedRequest, clients: Collection[str]) -> Iterable[SentParameter]:
    if refused.content_type not in (None, _FORM_TYPE):
        yield _parameter("Content-Type", refused.content_type or "")
    if refused.authorization is not None:
        yield _header(refused.authorization)
    for name, value in refused.pairs[:_MAX_PARAMETERS]:
        if not _PARAMETER_NAME.fullmatch(name):  # the name could be a secret itself
            yield SentParameter(name="?", note=f"a name of {characters(name)}")
        elif name == "client_id" and value in clients:
            yield SentParameter(name=name, value=value)
        else:
            yield _parameter(name, value)
    if len(refused.pairs) > _MAX_PARAMETERS:
        yield SentParameter(
            name="…", note=f"and {len(refused.pairs) - _MAX_PARAMETERS} more parameters"
        )


def _header(authorization: str) -> SentParameter:
    scheme = authorization.partition(" ")[0]
    kind = f"{scheme.capitalize()}, " if scheme.lower() in _SCHEMES else ""
    return SentParameter(name="Authorization", note=kind + characters(authorization))


def _parameter(name: str, value: str) -> SentParameter:
    if not value:
        return SentParameter(name=name, note="empty")
    harmless = safe_display.value(name, value)
    if harmless is not None:
        return SentParameter(name=name, value=harmless)
    note = safe_display.length_in_words(value)
    # A short value could be guessed from its hash.
    if name in _COMPARABLE and len(value) >= _RANDOM_CHARACTERS:
        note += f", SHA-256 begins {hashlib.sha256(value.encode()).hexdigest()[:8]}"
    return SentParameter(name=name, note=note)
