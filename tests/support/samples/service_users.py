"""Bodies for service users and their credentials, and what such calls use up."""

from __future__ import annotations

from tests.support.samples import applications
from tests.support.samples.applications import FULL_KEY, PUBLIC_KEY
from tests.support.samples.searches import NO_PLACE

FULL_MACHINE = {
    "userName": "script-{n}",
    "name": "Nightly script",
    "description": "Makes people.",
    "accessTokenType": "ACCESS_TOKEN_TYPE_BEARER",
}
BODIES = {
    "POST /management/v1/users/{userId}/pats/_search": ({"query": NO_PLACE},),
    "POST /management/v1/users/{userId}/keys/_search": ({"query": NO_PLACE},),
    "POST /management/v1/users/machine": (FULL_MACHINE,),
    "PUT /management/v1/users/{userId}/secret": ({"overlap": "24h"},),
    "POST /management/v1/users/{userId}/pats": ({"expirationDate": "2100-01-01T00:00:00Z"},),
    "POST /management/v1/users/{userId}/keys": (FULL_KEY,),
}


async def machine(world):
    return {"userId": world.machine}


async def with_secret(world):
    await world.made(f"/management/v1/users/{world.machine}/secret", None, method="PUT")
    return {"userId": world.machine}


async def old_secret(world):
    """A secret that is valid beside the current one."""
    path = f"/management/v1/users/{world.machine}"
    for overlap in ("0s", "1h"):
        await world.made(f"{path}/secret", None, method="PUT", overlap=overlap)
    return {"userId": world.machine, "secretId": await applications.replaced(world, path)}


async def new_token(world):
    path = f"/management/v1/users/{world.machine}/pats"
    return {"userId": world.machine, "tokenId": await world.made(path, "tokenId")}


async def new_key(world):
    path = f"/management/v1/users/{world.machine}/keys"
    id = await world.made(path, "keyId", publicKey=PUBLIC_KEY)
    return {"userId": world.machine, "keyId": id}


_USER = "/management/v1/users/{userId}"
MADE = {
    f"PUT {_USER}/secret": machine,
    f"DELETE {_USER}/secret": with_secret,
    f"GET {_USER}/secrets": machine,
    f"DELETE {_USER}/secrets/{{secretId}}": old_secret,
    f"GET {_USER}/pats": machine,
    f"POST {_USER}/pats/_search": machine,
    f"POST {_USER}/keys/_search": machine,
    f"POST {_USER}/pats": machine,
    f"GET {_USER}/pats/{{tokenId}}": new_token,
    f"DELETE {_USER}/pats/{{tokenId}}": new_token,
    f"GET {_USER}/keys": machine,
    f"POST {_USER}/keys": machine,
    f"GET {_USER}/keys/{{keyId}}": new_key,
    f"DELETE {_USER}/keys/{{keyId}}": new_key,
}
