"""A body for each endpoint of the management API that says all it can say, and its address.

`SAMPLES` has a row for each route that takes a body; tests make every hostile request of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from handlers.users import Code
from idp.clients.oidc_request import NewOidcApp
from idp.clients.projects import NewProject
from idp.identity.members import NewInstanceMember, NewOrganizationMember
from idp.identity.new_user_requests import CreateHuman
from idp.identity.org_setup import SetUp
from idp.identity.service_users import NewMachine, NewPat
from idp.requests import Request

SET_UP = "/admin/v1/orgs/_setup"
CREATE_HUMAN = "/v2/users/human"
PROJECTS = "/management/v1/projects"
MACHINES = "/management/v1/users/machine"
PATS = "/management/v1/users/([^/]+)/pats"
MEMBERS = "/management/v1/orgs/me/members"
INSTANCE_MEMBERS = "/admin/v1/members"


@dataclass(frozen=True)
class Sample:
    """What a route reads, and bodies that together name every field. In their texts `{n}` stands
    for what has to be new each time."""

    kind: type[Request]
    bodies: tuple[dict, ...]


def organization(n: int = 0) -> dict:
    """The least that sets up an organization."""
    return {
        "org": {"name": f"Acme {n}" if n else "Acme"},
        "human": {
            "userName": f"anna-{n}",
            "profile": {"firstName": "Anna", "lastName": "Owner"},
            "email": {"email": f"anna-{n}@acme.test", "isEmailVerified": True},
            "password": "horse staple battery",
        },
    }


def changed(path: str, value: object, n: int = 0) -> dict:
    """The least set-up with one member changed."""
    body = organization(n)
    *names, last = path.split(".")
    holder = body
    for name in names:
        holder = holder.setdefault(name, {})
    holder[last] = value
    return body


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
        },
        "email": {"email": "anna-{n}@acme.example", "isEmailVerified": True},
        "phone": {"phone": "+41791234567", "isPhoneVerified": True},
        "password": "horse staple battery",
    },
    "roles": ["ORG_OWNER"],
}
FULL_PROJECT = {
    "name": "Shop",
    "projectRoleAssertion": False,
    "projectRoleCheck": False,
    "hasProjectCheck": False,
}
FULL_APP = {
    "name": "Shop",
    "redirectUris": ["https://shop.example/cb"],
    "responseTypes": ["OIDC_RESPONSE_TYPE_CODE"],
    "grantTypes": ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
    "appType": "OIDC_APP_TYPE_WEB",
    "authMethodType": "OIDC_AUTH_METHOD_TYPE_POST",
    "postLogoutRedirectUris": ["https://shop.example/"],
    "version": "OIDC_VERSION_1_0",
    "devMode": True,
    "accessTokenType": "OIDC_TOKEN_TYPE_JWT",
    "idTokenUserinfoAssertion": True,
    "homeUrl": "https://shop.example/",
    "accessTokenRoleAssertion": False,
    "idTokenRoleAssertion": False,
    "clockSkew": "0s",
    "additionalOrigins": [],
    "skipNativeAppSuccessPage": False,
    "backChannelLogoutUri": "",
    "frontChannelLogoutUri": "",
    "loginVersion": {},
    "groupsClaim": "",
    "thirdParty": False,
    "managementAccess": False,
    "refreshTokenReuseSeconds": 0,
    "loopbackAnyPort": False,
    "requirePushedRequests": False,
}
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
    },
    "email": {"email": "max-{n}@acme.example", "isVerified": True},
    "phone": {"phone": "+41791234567", "isVerified": True},
    "metadata": [{"key": "shoes", "value": "cmVk"}],
    "password": {"password": "horse staple battery", "changeRequired": True},
    "idpLinks": [{"idpId": "google", "userId": "1", "userName": "max"}],
}
FULL_MACHINE = {
    "userName": "script-{n}",
    "name": "Nightly script",
    "description": "Makes people.",
    "accessTokenType": "ACCESS_TOKEN_TYPE_BEARER",
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
        "hash": "$2b$04$PmNGyfpJRHuJXrWr/5PzQejW4WkIxnYDzVXmOSgvVHCL3h3BUOT2i",
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
SAMPLES = {
    SET_UP: Sample(SetUp, (FULL_ORGANIZATION,)),
    PROJECTS: Sample(NewProject, (FULL_PROJECT,)),
    f"{PROJECTS}/([^/]+)/apps/oidc": Sample(NewOidcApp, (FULL_APP,)),
    CREATE_HUMAN: Sample(CreateHuman, (FULL_HUMAN, OTHER_HUMAN, THIRD_HUMAN)),
    MACHINES: Sample(NewMachine, (FULL_MACHINE,)),
    "/management/v1/users/([^/]+)/pats": Sample(
        NewPat, ({"expirationDate": "2100-01-01T00:00:00Z"},)
    ),
    MEMBERS: Sample(NewOrganizationMember, ({"userId": "{member}", "roles": ["ORG_OWNER"]},)),
    INSTANCE_MEMBERS: Sample(NewInstanceMember, ({"userId": "{member}", "roles": ["IAM_OWNER"]},)),
    "/v2/users/([^/]+)/(email|phone)/verify": Sample(Code, ({"verificationCode": "ABCDEF"},)),
}


def filled(value, **values: object):
    """The sample with what its texts name put in."""
    if isinstance(value, dict):
        return {name: filled(each, **values) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, **values) for each in value]
    if isinstance(value, str):
        for name, each in values.items():
            value = value.replace(f"{{{name}}}", str(each))
    return value


def leaves(value, path: str = ""):
    """Each value of a sample that holds no other, with its JSON path; empty lists too."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for n, each in enumerate(value):
            yield from leaves(each, f"{path}[{n}]")
    else:
        yield path, value
