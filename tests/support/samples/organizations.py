"""Bodies for organizations and their members, and what such calls use up."""

from __future__ import annotations

FULL_ORGANIZATION = {
    "org": {"name": "Acme {n}", "domain": "acme-{n}.example"},
    "human": {
        "userName": "anna-{n}",
        "profile": {
            "firstName": "Anna",
            "lastName": "Owner",
            "nickName": "Ann",
            "displayName": "Anna O.",
            "preferredLanguage": "de",
            "gender": "GENDER_FEMALE",
            "middleName": "M.",
            "profile": "https://anna.example/",
            "picture": "https://anna.example/me.png",
            "website": "https://anna.example/blog",
            "birthdate": "1990-01-31",
            "zoneinfo": "Europe/Vienna",
        },
        "email": {"email": "anna-{n}@acme.example", "isEmailVerified": True},
        "phone": {"phone": "+41791234567", "isPhoneVerified": True},
        "password": "horse staple battery",
    },
    "roles": ["ORG_OWNER"],
}
BODIES = {
    "POST /admin/v1/orgs/_setup": (FULL_ORGANIZATION,),
    "POST /management/v1/orgs/me/members": ({"userId": "{member}", "roles": ["ORG_OWNER"]},),
    "PUT /management/v1/orgs/me/members/{userId}": ({"roles": ["ORG_OWNER"]},),
}


async def new_member(world):
    return {"userId": await world.new_member("/management/v1/orgs/me/members", "ORG_OWNER_VIEWER")}


MADE = {
    "PUT /management/v1/orgs/me/members/{userId}": new_member,
    "DELETE /management/v1/orgs/me/members/{userId}": new_member,
}
