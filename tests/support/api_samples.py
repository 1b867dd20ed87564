"""A body for each endpoint of the management API that says all it can say, and its address.

`SAMPLES` has a row for each route that takes a body; tests make every hostile request of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handlers.users import Code
from idp.clients.api_apps import ApiSettings, NewApiApp
from idp.clients.oidc_request import NewOidcApp, OidcSettings
from idp.clients.projects import NewProject
from idp.clients.registered_keys import NewKey
from idp.clients.role_assignments import AssignmentChange, NewAssignment
from idp.clients.roles import NewRole
from idp.identity.members import (
    InstanceMemberChange,
    NewInstanceMember,
    NewOrganizationMember,
    OrganizationMemberChange,
)
from idp.identity.new_user_requests import CreateHuman
from idp.identity.org_setup import SetUp
from idp.identity.service_users import NewMachine
from idp.identity.user_metadata import MetadataValue
from idp.identity.user_pats import NewPat
from idp.instance_settings import Features, SecurityPolicy
from idp.requests import Nothing, Request

SET_UP = "/admin/v1/orgs/_setup"
CREATE_HUMAN = "/v2/users/human"
PROJECTS = "/management/v1/projects"
MACHINES = "/management/v1/users/machine"
MEMBERS = "/management/v1/orgs/me/members"
MEMBER = f"{MEMBERS}/([^/]+)"
INSTANCE_MEMBERS = "/admin/v1/members"
INSTANCE_MEMBER = f"{INSTANCE_MEMBERS}/([^/]+)"
FEATURES = "/v2/features/instance"
SECURITY = "/admin/v1/policies/security"
ROTATE_KEYS = "/admin/v1/keys/_rotate"
REMOVE_KEY = "/admin/v1/keys/([^/]+)/_remove"
PROJECT = f"{PROJECTS}/([^/]+)"
ROLES = f"{PROJECT}/roles"
OIDC_APPS = f"{PROJECT}/apps/oidc"
API_APPS = f"{PROJECT}/apps/api"
APP = f"{PROJECT}/apps/([^/]+)"
OIDC_CONFIG = f"{APP}/oidc_config"
API_CONFIG = f"{APP}/api_config"
CLIENT_SECRET = f"{APP}/(?:oidc_config|api_config)/_generate_client_secret"
APP_KEYS = f"{APP}/keys"
USER = "/management/v1/users/([^/]+)"
SECRET = f"{USER}/secret"
PATS = f"{USER}/pats"
USER_KEYS = f"{USER}/keys"
GRANTS = f"{USER}/grants"
METADATA = f"{USER}/metadata/([^/]+)"
STATES = "/v2/users/([^/]+)/(deactivate|reactivate|lock|unlock)"

# A P-256 key that nobody has the other half of.
PUBLIC_KEY = (
    "LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFa2d1"
    "NVpPckJjMndRbFpTQUZUL2VxYnd5dVNBNAppL2hkWWZ4RUlBT0VheHZURzN2NVFwZi9lZXNiRmxOZ1J2dnNmQW5P"
    "TmNNSDUwRVFkV0k4UFFqdGtnPT0KLS0tLS1FTkQgUFVCTElDIEtFWS0tLS0tCg=="
)


@dataclass(frozen=True)
class Sample:
    """What a route reads, and bodies that together name every field. In their texts `{n}` stands
    for what has to be new each time."""

    kind: type[Request]
    bodies: tuple[dict, ...]
    method: str = "POST"


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
FULL_PROJECT = {
    "name": "Shop",
    "projectRoleAssertion": False,
    "projectRoleCheck": False,
    "hasProjectCheck": False,
}
FULL_SETTINGS = {
    "redirectUris": ["https://shop.example/cb"],
    "responseTypes": [
        "OIDC_RESPONSE_TYPE_CODE",
        "OIDC_RESPONSE_TYPE_ID_TOKEN",
        "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN",
    ],
    "grantTypes": [
        "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
        "OIDC_GRANT_TYPE_IMPLICIT",
        "OIDC_GRANT_TYPE_REFRESH_TOKEN",
        "OIDC_GRANT_TYPE_DEVICE_CODE",
        "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
        "OIDC_GRANT_TYPE_CLIENT_CREDENTIALS",
    ],
    "appType": "OIDC_APP_TYPE_WEB",
    "authMethodType": "OIDC_AUTH_METHOD_TYPE_POST",
    "postLogoutRedirectUris": ["https://shop.example/"],
    "version": "OIDC_VERSION_1_0",
    "devMode": True,
    "accessTokenType": "OIDC_TOKEN_TYPE_JWT",
    "accessTokenRoleAssertion": True,
    "idTokenRoleAssertion": True,
    "idTokenUserinfoAssertion": True,
    "idTokenSignedResponseAlg": "ES256",
    "clockSkew": "5s",
    "additionalOrigins": ["https://admin.shop.example", "capacitor://localhost"],
    "backChannelLogoutUri": "https://shop.example/logout",
    "frontChannelLogoutUri": "https://shop.example/signed-out",
    "homeUrl": "https://shop.example/",
    "groupsClaim": "groups",
    "thirdParty": True,
    "managementAccess": False,
    "refreshTokenReuseSeconds": 60,
    "loopbackAnyPort": True,
    "requirePushedRequests": True,
    "skipNativeAppSuccessPage": True,
    "loginVersion": {"loginV1": {}},
}
OTHER_SETTINGS = {"loginVersion": {"loginV2": {"baseUri": ""}}}
FULL_APP = {"name": "Shop", **FULL_SETTINGS}
FULL_KEY = {
    "type": "KEY_TYPE_JSON",
    "expirationDate": "2100-01-01T00:00:00Z",
    "publicKey": PUBLIC_KEY,
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
    ROLES: Sample(
        NewRole, ({"roleKey": "buyer-{n}", "displayName": "Buyer", "group": "customers"},)
    ),
    OIDC_APPS: Sample(NewOidcApp, (FULL_APP, {"name": "Shop", **OTHER_SETTINGS})),
    API_APPS: Sample(
        NewApiApp, ({"name": "Stock", "authMethodType": "API_AUTH_METHOD_TYPE_BASIC"},)
    ),
    OIDC_CONFIG: Sample(OidcSettings, (FULL_SETTINGS, OTHER_SETTINGS), "PUT"),
    API_CONFIG: Sample(
        ApiSettings, ({"authMethodType": "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"},), "PUT"
    ),
    CLIENT_SECRET: Sample(Nothing, ({},)),
    APP_KEYS: Sample(NewKey, (FULL_KEY,)),
    USER_KEYS: Sample(NewKey, (FULL_KEY,)),
    SECRET: Sample(Nothing, ({},), "PUT"),
    GRANTS: Sample(NewAssignment, ({"projectId": "{project}", "roleKeys": ["{role}"]},)),
    f"{GRANTS}/([^/]+)": Sample(AssignmentChange, ({"roleKeys": ["{role}"]},), "PUT"),
    METADATA: Sample(MetadataValue, ({"value": "cmVk"},)),
    STATES: Sample(Nothing, ({},)),
    FEATURES: Sample(Features, ({"oidcTokenExchange": True},), "PUT"),
    ROTATE_KEYS: Sample(Nothing, ({},)),
    REMOVE_KEY: Sample(Nothing, ({},)),
    SECURITY: Sample(SecurityPolicy, ({"enableImpersonation": True},), "PUT"),
    CREATE_HUMAN: Sample(CreateHuman, (FULL_HUMAN, OTHER_HUMAN, THIRD_HUMAN)),
    MACHINES: Sample(NewMachine, (FULL_MACHINE,)),
    PATS: Sample(NewPat, ({"expirationDate": "2100-01-01T00:00:00Z"},)),
    MEMBERS: Sample(NewOrganizationMember, ({"userId": "{member}", "roles": ["ORG_OWNER"]},)),
    INSTANCE_MEMBERS: Sample(NewInstanceMember, ({"userId": "{member}", "roles": ["IAM_OWNER"]},)),
    MEMBER: Sample(OrganizationMemberChange, ({"roles": ["ORG_OWNER"]},), "PUT"),
    INSTANCE_MEMBER: Sample(InstanceMemberChange, ({"roles": ["IAM_OWNER"]},), "PUT"),
    "/v2/users/([^/]+)/(email|phone)/verify": Sample(Code, ({"verificationCode": "ABCDEF"},)),
}


def first_alternative(route: str) -> str:
    """The route with the first of the names that it takes at a place."""
    return re.sub(r"\((?:\?:)?(\w+)(?:\|\w+)+\)", r"\1", route)


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
