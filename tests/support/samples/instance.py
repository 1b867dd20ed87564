"""Bodies for the instance, and what such calls use up."""

from __future__ import annotations

from idp.foundation.i18n import load, message
from idp.keys.key_ring import PUBLISHED_CACHE_SECONDS
from idp.mail import messages
from idp.records import SIGNING_KEYS
from tests.support.samples.searches import NO_PLACE

BODIES = {
    "PUT /v2/features/instance": ({"oidcTokenExchange": True},),
    "PUT /admin/v1/policies/security": ({"enableImpersonation": True},),
    "POST /admin/v1/members": ({"userId": "{member}", "roles": ["IAM_OWNER"]},),
    "PUT /admin/v1/members/{userId}": ({"roles": ["IAM_OWNER"]},),
    "POST /admin/v1/mail/_search": tuple(
        {"query": NO_PLACE, "queries": [each]}
        for each in (
            {"stateQuery": {"state": "failed"}},
            {"kindQuery": {"kind": "invite"}},
            {"userIdQuery": {"userId": "{member}"}},
        )
    ),
    "POST /admin/v1/mail/_test": ({"to": "ada@acme.example"},),
}


async def new_member(world):
    return {"userId": await world.new_member("/admin/v1/members", "IAM_OWNER_VIEWER")}


async def waited(world):
    """Until the waiting keys may sign."""
    world.server.clock.advance(PUBLISHED_CACHE_SECONDS)
    return {}


async def held_letter(world):
    letter = messages.write(
        load("en"), "ada@acme.example", message("A subject"), [message("A text")]
    )
    posting = messages.posting(world.server.service, "invite", letter, org_id=None)
    await world.server.store.commit(posting)
    return {"mailId": posting.id}


async def signing_key(world):
    found = [one async for one in world.server.store.scan(SIGNING_KEYS) if one.use == "sig"]
    return {"keyId": next(one.id for one in found if one.state == "active")}


MADE = {
    "PUT /admin/v1/members/{userId}": new_member,
    "DELETE /admin/v1/members/{userId}": new_member,
    "POST /admin/v1/keys/_rotate": waited,
    "POST /admin/v1/mail/{mailId}/_retry": held_letter,
    "POST /admin/v1/keys/{keyId}/_remove": signing_key,
}
