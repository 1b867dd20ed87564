"""A sign-in by passkey: what the browser is asked for, and what its answer opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from idp.identity import challenges, passkeys, webauthn
from idp.identity.agents import Cookie
from idp.oauth import sign_in_flow
from idp.oauth.proofs import Proven
from idp.oauth.sign_in_flow import Flow
from idp.records import REPLAY, Passkey
from idp.service import Service
from storage import Conflict, Stale


def _bound_to(flow: Flow) -> str:
    return f"{flow.request.id}\n{flow.agent.id}"


async def options(
    service: Service, flow: Flow, allowed: Sequence[Passkey] = ()
) -> dict[str, Any] | None:
    """What a browser is asked for; None where nobody signs in by passkey."""
    party = webauthn.relying_party(service.config)
    if party is None:
        return None
    challenge = challenges.new(service, "get", _bound_to(flow))
    return passkeys.request_options(party, challenge, allowed)


async def enter(
    service: Service, flow: Flow, text: str, user_id: str | None = None
) -> Cookie | None:
    """Sign in who the browser's answer proves to be there; the browser's new cookie.

    Raises webauthn.Refused; Stale when something else happened at once.
    """
    party = webauthn.relying_party(service.config)
    if party is None:
        raise webauthn.Refused("there are no passkeys here")
    proof = await passkeys.prove(service, party, text, _bound_to(flow), user_id)
    proven = Proven(proof.subject, tuple(proof.amr))
    try:
        return await sign_in_flow.prove(service, flow, proven, *proof.writes)
    except Conflict:
        raise Stale(REPLAY.name, flow.request.id) from None  # the same answer, sent twice
