"""Bodies for people and what is kept with users, and what such calls use up."""

from __future__ import annotations

from tests.support.samples.searches import NO_PLACE

FULL_HUMAN = {
    "userId": "id-{n}",
    "username": "max-{n}",
    "profile": {
        "givenName": "Max",
        "familyName": "Muster",
        "nickName": "Mäxchen",
        "displayName": "Max M.",
        "preferredLanguage": "de",
        "gender": "GENDER_MALE",
        "middleName": "M.",
        "profile": "https://max.example/",
        "picture": "https://max.example/me.png",
        "website": "https://max.example/blog",
        "birthdate": "1990-01-31",
        "zoneinfo": "Europe/Vienna",
    },
    "email": {"email": "max-{n}@acme.example", "isVerified": True},
    "phone": {"phone": "+41791234567", "isVerified": True},
    "address": {
        "formatted": "High Street 1\n1010 Vienna",
        "streetAddress": "High Street 1",
        "locality": "Vienna",
        "region": "Vienna",
        "postalCode": "1010",
        "country": "Austria",
    },
    "metadata": [{"key": "shoes", "value": "cmVk"}],
    "password": {"password": "horse staple battery", "changeRequired": True},
    "idpLinks": [{"idpId": "google", "userId": "1", "userName": "max"}],
}
OTHER_HUMAN = {
    "organization": {"orgId": "{org}"},
    "profile": {"givenName": "Max", "familyName": "Muster"},
    "email": {
        "email": "mia-{n}@acme.example",
        "sendCode": {"urlTemplate": "{issuer}/verify?user={{.UserID}}&code={{.Code}}"},
    },
    "phone": {"phone": "+41791234567", "sendCode": {}},
    "hashedPassword": {
        "hash": "$2b$10$PmNGyfpJRHuJXrWr/5PzQejW4WkIxnYDzVXmOSgvVHCL3h3BUOT2i",
        "changeRequired": True,
    },
    "totpSecret": "",
}
THIRD_HUMAN = {
    "organization": {"orgDomain": "localhost"},
    "profile": {"givenName": "Max", "familyName": "Muster"},
    "email": {"email": "mo-{n}@acme.example", "returnCode": {}},
    "phone": {"phone": "+41791234567", "returnCode": {}},
}


def search(*queries):
    page = {"limit": 10, "asc": True, "cursor": "", "offset": 0}
    return {"query": page, "queries": list(queries)}


def by(query, method="TEXT_QUERY_METHOD_EQUALS", **field):
    return {query: {**field, "method": method}}


SEARCHES = (
    search(
        by("userNameQuery", userName="max"),
        by("firstNameQuery", firstName="Max"),
        by("lastNameQuery", lastName="Muster"),
        by("nickNameQuery", nickName="Mäxchen"),
        by("displayNameQuery", displayName="Max M."),
        by("emailQuery", emailAddress="max@acme.example"),
        by("phoneQuery", number="+41791234567"),
        by("loginNameQuery", loginName="max@localhost"),
    ),
    search(
        {"stateQuery": {"state": "USER_STATE_ACTIVE"}},
        {"typeQuery": {"type": "TYPE_HUMAN"}},
        {"organizationIdQuery": {"organizationId": "{org}"}},
        {"inUserIdsQuery": {"userIds": ["1", "2"]}},
    )
    | {"sortingColumn": "USER_FIELD_NAME_DISPLAY_NAME"},
)
BODIES = {
    "POST /management/v1/users/grants/_search": (
        {
            "query": NO_PLACE,
            "queries": [
                {"userIdQuery": {"userId": "nobody"}},
                {"projectIdQuery": {"projectId": "nobody"}},
            ],
        },
    ),
    "POST /v2/users": SEARCHES,
    "POST /v2/users/human": (FULL_HUMAN, OTHER_HUMAN, THIRD_HUMAN),
    "POST /v2/users/{userId}/email/verify": ({"verificationCode": "ABCDEF"},),
    "POST /v2/users/{userId}/phone/verify": ({"verificationCode": "ABCDEF"},),
    "POST /management/v1/users/{userId}/metadata/{key}": ({"value": "cmVk"},),
    "POST /management/v1/users/{userId}/grants": (
        {"projectId": "{project}", "projectGrantId": "", "roleKeys": ["{role}"]},
    ),
    "PUT /management/v1/users/{userId}/grants/{grantId}": ({"roleKeys": ["{role}"]},),
}


async def new_user(world):
    return {"userId": await world.new_machine()}


async def shut_out(world):
    """A user who may be reactivated."""
    return await _after(world, "deactivate")


async def locked(world):
    return await _after(world, "lock")


async def _after(world, step):
    user = await world.new_machine()
    await world.made(f"/v2/users/{user}/{step}", None)
    return {"userId": user}


async def new_entry(world):
    key = world.new_name("key")
    path = f"/management/v1/users/{world.user}/metadata/{key}"
    await world.made(path, None, value="cmVk")
    return {"userId": world.user, "key": key}


async def new_grant(world):
    user = await world.new_machine()
    body = {"projectId": world.project, "roleKeys": [world.names["role"]]}
    id = await world.made(f"/management/v1/users/{user}/grants", "userGrantId", **body)
    return {"userId": user, "grantId": id}


MADE = {
    "POST /v2/users/{userId}/deactivate": new_user,
    "POST /v2/users/{userId}/reactivate": shut_out,
    "POST /v2/users/{userId}/lock": new_user,
    "POST /v2/users/{userId}/unlock": locked,
    "GET /management/v1/users/{userId}/metadata/{key}": new_entry,
    "POST /management/v1/users/{userId}/metadata/{key}": new_entry,
    "DELETE /management/v1/users/{userId}/metadata/{key}": new_entry,
    "POST /management/v1/users/{userId}/grants": new_user,
    "PUT /management/v1/users/{userId}/grants/{grantId}": new_grant,
    "DELETE /management/v1/users/{userId}/grants/{grantId}": new_grant,
}
