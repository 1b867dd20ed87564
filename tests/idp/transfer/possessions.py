"""Generated organizations: service users, projects, applications, and who may do what in them."""

from __future__ import annotations

import base64

from hypothesis import strategies as st

from idp.foundation import opaque_tokens
from tests.support.transfer.bringing_people import public_key

LINE = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=30
)
FLAG = st.booleans()
SECRET = st.sampled_from(["a secret of old", "another"]).map(
    lambda secret: {"value": opaque_tokens.digest(secret), "creationDate": "2020-01-02T03:04:05Z"}
)
OLD_SECRET = SECRET.map(lambda found: found | {"expirationDate": "2090-01-01T00:00:00Z"})
OWNER_ROLES = ["ORG_OWNER", "ORG_OWNER_VIEWER", "ORG_USER_MANAGER"]
METHODS = ["BASIC", "POST", "NONE", "PRIVATE_KEY_JWT"]


def some(**members):
    return st.fixed_dictionaries({}, optional=members)


def subsets(values):
    return st.lists(st.sampled_from(values), unique=True, max_size=3) if values else st.just([])


@st.composite
def possessions(draw, n, people):
    """What an organization has beside its settings and these people, list by list."""
    robots = [f"robot|{n}|{i}" for i in range(draw(st.integers(0, 2)))]
    projects = [f"project.{n}.{i}" for i in range(draw(st.integers(0, 2)))]
    users = [*people, *robots]
    roles = [(project, key) for project in projects for key in draw(subsets(["a", "b", "Ü-x"]))]
    groups = [f"group.{n}.{i}" for i in range(draw(st.integers(0, 2)))]
    apis = [(project, f"api.{project}") for project in projects if draw(FLAG)]
    return {
        "machineUsers": [{"userId": id, "user": draw(_robot(id))} for id in robots],
        "userMetadata": draw(_metadata(users)),
        "userLinks": [_link(id) for id in draw(subsets(people))],
        "machineKeys": [_machine_key(id) for id in draw(subsets(robots))],
        "projects": [{"projectId": id, "project": draw(_project())} for id in projects],
        "apiApps": [{"appId": id, "app": draw(_api(project))} for project, id in apis],
        "oidcApps": [draw(_web(id)) for id in projects if draw(FLAG)],
        "appKeys": [_app_key(id) for _, id in apis if draw(FLAG)],
        "projectRoles": [draw(_role(*role)) for role in roles],
        "userGrants": draw(_grants(users, roles)),
        "groups": [{"groupId": id, "name": id, "externalId": f"x-{id}"} for id in groups],
        "groupMembers": draw(_group_members(groups, users)),
        "groupGrants": [
            {"groupId": row.pop("userId")} | row for row in draw(_grants(groups, roles))
        ],
        "orgMembers": [
            {
                "userId": id,
                "roles": draw(st.lists(st.sampled_from(OWNER_ROLES), min_size=1, unique=True)),
            }
            for id in draw(subsets(users))
        ],
    }


def _robot(id):
    extra = some(
        description=LINE,
        accessTokenType=st.sampled_from(["ACCESS_TOKEN_TYPE_BEARER", "ACCESS_TOKEN_TYPE_JWT"]),
        state=st.sampled_from(["USER_STATE_ACTIVE", "USER_STATE_INACTIVE"]),
    )
    return st.builds(
        lambda name, more, secrets: {"userName": id, "name": name} | more | secrets,
        LINE,
        extra,
        _secrets() | st.just({}),
    )


def _secrets():
    return st.fixed_dictionaries({"hashedSecret": SECRET}, optional={"previousSecret": OLD_SECRET})


@st.composite
def _metadata(draw, users):
    rows = []
    for id in draw(subsets(users)):
        found = draw(st.dictionaries(LINE, st.binary(min_size=1, max_size=40), max_size=3))
        rows += [
            {"id": id, "key": key, "value": base64.b64encode(value).decode()}
            for key, value in found.items()
        ]
    return rows


def _link(id):
    return {"userId": id, "idpId": "other", "externalUserId": f"x-{id}", "displayName": "X"}


def _project():
    states = st.sampled_from(["PROJECT_STATE_ACTIVE", "PROJECT_STATE_INACTIVE"])
    return st.fixed_dictionaries({"name": LINE}, optional={"state": states})


def _api(project):
    """With its secret, where it has one."""
    by_key = st.just({"authMethodType": "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"})
    by_secret = _secrets().map(lambda it: it | {"authMethodType": "API_AUTH_METHOD_TYPE_BASIC"})
    return st.builds(
        lambda name, state, more: {"projectId": project, "name": name, "state": state} | more,
        LINE,
        _STATE,
        by_key | by_secret,
    )


_STATE = st.sampled_from(["APP_STATE_ACTIVE", "APP_STATE_INACTIVE"])


@st.composite
def _web(draw, project):
    method = draw(st.sampled_from(METHODS))
    secrets = draw(_secrets()) if method in ("BASIC", "POST") else {}
    app = {
        "projectId": project,
        "name": draw(LINE),
        "state": draw(_STATE),
        "redirectUris": ["https://shop.example/cb", f"https://{project}.example/cb"],
        "responseTypes": ["OIDC_RESPONSE_TYPE_CODE"],
        "grantTypes": ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
        "authMethodType": f"OIDC_AUTH_METHOD_TYPE_{method}",
    }
    return {"appId": f"web.{project}", "app": app | secrets | draw(_WISHES)}


_WISHES = some(
    postLogoutRedirectUris=st.just(["https://shop.example/out"]),
    accessTokenType=st.sampled_from(["OIDC_TOKEN_TYPE_BEARER", "OIDC_TOKEN_TYPE_JWT"]),
    accessTokenRoleAssertion=FLAG,
    idTokenRoleAssertion=FLAG,
    idTokenUserinfoAssertion=FLAG,
    clockSkew=st.integers(0, 5).map(lambda n: f"{n}s"),
    additionalOrigins=st.just(["https://spa.example"]),
    backChannelLogoutUri=st.just("https://shop.example/back"),
    frontChannelLogoutUri=st.just("https://shop.example/front"),
    homeUrl=st.just("https://shop.example/"),
    groupsClaim=st.just("groups"),
    thirdParty=FLAG,
    managementAccess=FLAG,
    refreshTokenReuseSeconds=st.integers(0, 10),
    requirePushedRequests=FLAG,
    requirePkce=FLAG,
    confirmReturn=FLAG,
)


def _role(project, key):
    more = some(displayName=LINE, group=LINE)
    return more.map(lambda it: {"projectId": project, "roleKey": key} | it)


@st.composite
def _grants(draw, users, roles):
    rows = []
    for project in dict.fromkeys(project for project, _ in roles):
        keys = [key for owner, key in roles if owner == project]
        rows += [
            {"userId": id, "projectId": project, "roleKeys": keys[: draw(st.integers(1, 3))]}
            for id in draw(subsets(users))
        ]
    return rows


@st.composite
def _group_members(draw, groups, users):
    """As an export tells them: a row for each source, with the users in the order of their ids."""
    rows = []
    for id in groups:
        for source in draw(subsets(["idp:c1", "manual", "scim:d1"])):
            some_users = sorted(draw(subsets(users)))
            if some_users:
                rows.append({"groupId": id, "source": source, "userIds": some_users})
    return sorted(rows, key=lambda row: (row["groupId"], row["source"]))


def _app_key(id):
    return {"id": f"key.{id}", "appId": id, "publicKey": public_key()}


def _machine_key(id):
    return {"keyId": f"key.{id}".replace("|", "."), "userId": id, "publicKey": public_key()}
