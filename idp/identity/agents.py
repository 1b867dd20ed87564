"""The browser: a record behind a cookie, made with the first sign-in that it begins.

The cookie is id ‖ secret; the store keeps the secret's hash, and the secret changes at every
sign-in, step-up and logout, so that a cookie from before is worth nothing afterwards.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from idp import base64url, credentials
from idp.credentials import Confidential
from idp.ids import Random
from idp.records import AGENTS, Agent
from idp.service import Service
from idp.vault import Vault
from storage import Update

KEPT: Final = timedelta(days=400)  # browsers keep no cookie longer
KEPT_UNUSED: Final = timedelta(days=1)


class Cookie(Confidential, frozen=True):
    """A new value for the browser's cookie, and the record state it belongs to."""

    value: str
    agent: Agent


def new(random: Random, now: datetime) -> Cookie:
    """An agent that is not stored yet. One that never signs in is forgotten after a day."""
    id, secret = random.id(), random.token()
    agent = Agent(
        id=id,
        secret_hash=credentials.digest(secret),
        created_at=now,
        expires_at=now + KEPT_UNUSED,
    )
    return Cookie(value=id + secret, agent=agent)


async def find(service: Service, cookie: str | None) -> Agent | None:
    """The agent whose current cookie this is."""
    parts = credentials.split(cookie) if cookie else None
    agent = await service.store.get(AGENTS, parts[0]) if parts else None
    if parts is None or agent is None or not credentials.matches(parts[1], agent.secret_hash):
        return None
    return agent


def rotation(random: Random, agent: Agent, now: datetime) -> tuple[Update, Cookie]:
    """The write that gives the agent a new secret, and the cookie that goes with it.

    Of two units that rotate at once, one succeeds.
    """
    secret = random.token()
    changed = {"secret_hash": credentials.digest(secret), "expires_at": now + KEPT}
    write = Update(AGENTS, agent.id, set=changed, expect={"secret_hash": agent.secret_hash})
    rotated = Agent(
        id=agent.id,
        secret_hash=credentials.digest(secret),
        created_at=agent.created_at,
        expires_at=now + KEPT,
    )
    return write, Cookie(value=agent.id + secret, agent=rotated)


def form_token(vault: Vault, agent: Agent, subject_id: str) -> str:
    """Proves that a form was made for this browser and this sign-in or logout.

    It doesn't depend on the cookie's secret, so that a second tab's form still counts after the
    first tab has signed in.
    """
    return base64url.encode(vault.mac("form", f"{agent.id}\n{subject_id}"))


def is_form_token(vault: Vault, agent: Agent, subject_id: str, token: str) -> bool:
    return credentials.same(form_token(vault, agent, subject_id), token)
