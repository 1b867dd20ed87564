"""Rows of persons and of their dependent records, in an existing organization."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives import serialization

from idp.foundation import opaque_tokens
from idp.records import ORGANIZATIONS
from tests.support.samples.people import IMPORTED
from tests.support.service import shared_key
from tests.support.transfer.bringing import brought

HASH = IMPORTED["hashedPassword"]["value"]
PASSWORD = "a lamp in the attic"


def person(**changes):
    body = {
        "userName": "road.runner",
        "profile": {"firstName": "Road", "lastName": "Runner"},
        "email": {"email": "road@runner.example", "isEmailVerified": True},
        "hashedPassword": {"value": HASH},
    } | changes
    return {name: value for name, value in body.items() if value is not None}


def row(id="auth0|1", **changes):
    return {"userId": id, "user": person(**changes)}


MACHINE = {"userId": "robot-1", "user": {"userName": "robot", "name": "Robot"}}


PROJECT = {"projectId": "p-1", "project": {"name": "Shop"}}
SECRET = "a secret of old"
URI = "https://shop.example/cb"


def app(**changes):
    body = {
        "projectId": "p-1",
        "name": "Web",
        "redirectUris": [URI],
        "grantTypes": ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
        "hashedSecret": {"value": opaque_tokens.digest(SECRET)},
    } | changes
    return {name: value for name, value in body.items() if value is not None}


def web(id="app-1", **changes):
    return {"appId": id, "app": app(**changes)}


API = {
    "appId": "api-1",
    "app": {
        "projectId": "p-1",
        "name": "Api",
        "authMethodType": "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT",
    },
}
ROLE = {"projectId": "p-1", "roleKey": "buyer", "displayName": "Buyer", "group": "shop"}
GRANT = {"userId": "auth0|1", "projectId": "p-1", "roleKeys": ["buyer"]}
MEMBER = {"userId": "auth0|1", "roles": ["ORG_OWNER"]}


def public_key(number=0):
    pem = (
        shared_key(number)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return base64.b64encode(pem).decode()


def app_key(**changes):
    return {"id": "k-1", "appId": "api-1", "publicKey": public_key()} | changes


def machine_key(**changes):
    return {"keyId": "k-2", "userId": "robot-1", "publicKey": public_key()} | changes


WHOLE = {
    "humanUsers": [row()],
    "machineUsers": [MACHINE],
    "userMetadata": [{"id": "auth0|1", "key": "shoes", "value": "NDI="}],
    "machineKeys": [machine_key()],
    "projects": [PROJECT],
    "apiApps": [API],
    "oidcApps": [web()],
    "appKeys": [app_key()],
    "projectRoles": [ROLE],
    "userGrants": [GRANT],
    "orgMembers": [MEMBER],
}


async def bring(server, *, updates=False, job="job", into="acme", **lists):
    """What became of the rows of these lists, in the order in which they are stored."""
    for id in ("acme", "other"):
        if await server.store.get(ORGANIZATIONS, id) is None:
            await brought(server, {"orgId": id, "org": {"name": id.title()}}, job="before")
    return await brought(server, {"orgId": into, **lists}, updates=updates, job=job)


def outcome(prepared):
    """What became of a row, with its error codes by their fields, `!` at errors."""
    found = {
        ("!" if each.is_error else "") + each.field: each.error_code for each in prepared.problems
    }
    return prepared.action, found
