"""Bodies for what is changed of users and taken from them, and what such calls use up."""

from __future__ import annotations

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.factors import second_factors
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.records import PASSKEYS, SESSIONS, USERS, Passkey
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink, link_id
from storage import Insert, Update
from tests.support.samples.searches import NO_PLACE
from tests.support.samples.users import FULL_HUMAN, by, new_user, search

IMPORTED = {
    "userName": "otto-{n}",
    "profile": {
        "firstName": "Otto",
        "lastName": "Muster",
        "nickName": "O",
        "displayName": "Otto M.",
        "preferredLanguage": "de",
        "gender": "GENDER_MALE",
        "middleName": "M.",
        "profile": "https://otto.example/",
        "picture": "https://otto.example/me.png",
        "website": "https://otto.example/blog",
        "birthdate": "1990-01-31",
        "zoneinfo": "Europe/Vienna",
    },
    "email": {"email": "otto-{n}@acme.example", "isEmailVerified": True},
    "phone": {"phone": "+41791234567", "isPhoneVerified": True},
    "hashedPassword": {
        "value": "$2b$10$PmNGyfpJRHuJXrWr/5PzQejW4WkIxnYDzVXmOSgvVHCL3h3BUOT2i",
        "algorithm": "bcrypt",
    },
    "passwordChangeRequired": True,
    "requestPasswordlessRegistration": False,
    "dryRun": False,
    "otpCode": "",
    "idps": [{"configId": "google", "externalUserId": "1", "displayName": "otto"}],
}
OTHER_IMPORTED = {
    "userName": "olga-{n}",
    "profile": {"firstName": "Olga", "lastName": "Muster"},
    "email": {"email": "olga-{n}@acme.example"},
    "password": "horse staple battery",
    "otpCode": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
}
_TEMPLATE = "https://acme.example/verify?user={{.UserID}}&code={{.Code}}"
_PASSWORD = {"password": "another staple battery", "changeRequired": True}
_EMAIL = {"email": "moved-{n}@acme.example"}
_PHONE = {"phone": "+41791234568"}
BODIES = {
    "PUT /v2/users/human/{userId}": (
        {
            "username": "moved-{n}",
            "profile": FULL_HUMAN["profile"],
            "address": FULL_HUMAN["address"],
        },
    ),
    "PUT /management/v1/users/{userId}/machine": (
        {
            "userName": "moved-{n}",
            "name": "Moved",
            "description": "text",
            "accessTokenType": "ACCESS_TOKEN_TYPE_JWT",
        },
    ),
    "POST /management/v1/users/human/_import": (IMPORTED, OTHER_IMPORTED),
    "POST /v2/users/{userId}/email": (
        _EMAIL | {"sendCode": {"urlTemplate": _TEMPLATE}},
        _EMAIL | {"returnCode": {}},
        _EMAIL | {"isVerified": True},
    ),
    "POST /v2/users/{userId}/email/resend": (
        {"sendCode": {"urlTemplate": _TEMPLATE}},
        {"returnCode": {}},
    ),
    "POST /v2/users/{userId}/phone": (
        _PHONE | {"sendCode": {}},
        _PHONE | {"returnCode": {}},
        _PHONE | {"isVerified": True},
    ),
    "POST /v2/users/{userId}/phone/resend": ({"sendCode": {}}, {"returnCode": {}}),
    "POST /v2/users/{userId}/password": (
        {"newPassword": _PASSWORD},
        {"newPassword": _PASSWORD, "verificationCode": "ABCDEF"},
        {"newPassword": _PASSWORD, "currentPassword": "no staple battery"},
    ),
    "POST /v2/users/{userId}/password_reset": (
        {"sendLink": {"urlTemplate": _TEMPLATE, "notificationType": "NOTIFICATION_TYPE_EMAIL"}},
        {"returnCode": {}},
    ),
    "POST /v2/users/{userId}/invite_code": (
        {"sendCode": {"urlTemplate": _TEMPLATE}},
        {"returnCode": {}},
    ),
    "POST /v2/users/{userId}/invite_code/resend": (
        {"sendCode": {"urlTemplate": _TEMPLATE}},
        {"returnCode": {}},
    ),
    "POST /management/v1/orgs/me/sessions/_search": ({"query": NO_PLACE},),
    "POST /v2/users/{userId}/sessions/_search": (
        {"query": {"limit": 10, "asc": True, "cursor": "", "offset": 0}},
    ),
    "POST /v2/users/{userId}/passkeys/_search": ({"query": NO_PLACE},),
    "POST /management/v1/users/{userId}/idps/_search": ({"query": NO_PLACE},),
    "POST /management/v1/users/{userId}/metadata/_search": (search(by("keyQuery", key="shoes")),),
}


async def new_person(world):
    """A user whose address and number are not verified yet."""
    email = {"email": f"{world.new_name('waiting')}@acme.example", "returnCode": {}}
    return await _person(world, email, phone={"phone": "+41791234567", "returnCode": {}})


async def proven_person(world):
    email = {"email": f"{world.new_name('proven')}@acme.example", "isVerified": True}
    return await _person(world, email)


async def _person(world, email, **more):
    profile = {"givenName": "Max", "familyName": "Muster"}
    body = {"username": world.new_name("person"), "profile": profile, "email": email, **more}
    return {"userId": await world.made("/v2/users/human", "userId", **body)}


async def with_session(world):
    """A user with a session."""
    service, made = world.server.service, await new_person(world)
    subject = await user_lookup.find_subject(service, made["userId"])
    now = service.clock.now()
    agent = browsers.new(service).browser
    session = session_lifetime.new(service.random, service.config, agent, subject, now)
    await service.store.commit(Insert(SESSIONS, session))
    return made | {"sessionId": session.id}


async def with_passkey(world):
    """A user with a passkey."""
    service, made = world.server.service, await new_person(world)
    now, id = service.clock.now(), service.random.id()
    passkey = Passkey(
        id=id,
        user_id=made["userId"],
        credential_id=id,
        public_key="",
        name="Phone",
        created_at=now,
        changed_at=now,
    )
    stored = events.insertion(
        service.random, PASSKEYS, passkey, AuditEntry("passkey.created", made["userId"], now)
    )
    await service.store.commit(*stored)
    return made | {"passkeyId": id}


async def with_link(world):
    """A user who is linked to an identity at another provider."""
    service, made = world.server.service, await new_person(world)
    user, now = await service.store.get(USERS, made["userId"]), service.clock.now()
    link = IdentityLink(
        id=link_id("corp", "https://login.corp.example", user.id),
        connection_id="corp",
        authority="https://login.corp.example",
        external_id=user.id,
        user_id=user.id,
        org_id=user.org_id,
        user_name="ada",
        created_at=now,
        changed_at=now,
    )
    entry = AuditEntry("identity_link.created", user.id, now)
    await service.store.commit(*events.insertion(service.random, IDENTITY_LINKS, link, entry))
    return made | {"idpId": "corp", "linkedUserId": user.id}


async def with_app(world):
    """A user who has an authenticator app."""
    service, made = world.server.service, await new_person(world)
    totp = second_factors.imported(service, made["userId"], "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    await service.store.commit(Update(USERS, made["userId"], set={"totp": totp}))
    return made


MADE = {
    "DELETE /v2/users/{userId}/totp": with_app,
    "DELETE /v2/users/{userId}": new_user,
    "PUT /v2/users/human/{userId}": new_person,
    "PUT /management/v1/users/{userId}/machine": new_user,
    "POST /v2/users/{userId}/email": new_person,
    "POST /v2/users/{userId}/email/resend": new_person,
    "POST /v2/users/{userId}/phone": new_person,
    "POST /v2/users/{userId}/phone/resend": new_person,
    "DELETE /v2/users/{userId}/phone": new_person,
    "POST /v2/users/{userId}/password": new_person,
    "POST /v2/users/{userId}/password_reset": proven_person,
    "POST /v2/users/{userId}/invite_code": new_person,
    "POST /v2/users/{userId}/invite_code/resend": new_person,
    "POST /v2/users/{userId}/sessions/_search": with_session,
    "POST /v2/users/{userId}/sessions/_end": with_session,
    "DELETE /v2/users/{userId}/sessions/{sessionId}": with_session,
    "POST /v2/users/{userId}/passkeys/_search": with_passkey,
    "DELETE /v2/users/{userId}/passkeys/{passkeyId}": with_passkey,
    "POST /management/v1/users/{userId}/idps/_search": with_link,
    "DELETE /management/v1/users/{userId}/idps/{idpId}/{linkedUserId}": with_link,
    "POST /management/v1/users/{userId}/metadata/_search": new_user,
}
