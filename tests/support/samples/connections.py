"""Bodies for connections, and what such calls use up."""

from __future__ import annotations

from idp.records.connections import CONNECTIONS
from idp.upstream import connection_tests
from tests.support.samples.searches import NO_PLACE

OPTIONS = {
    "isLinkingAllowed": True,
    "isCreationAllowed": True,
    "isAutoCreation": True,
    "isAutoUpdate": False,
    "autoLinking": "AUTO_LINKING_OPTION_UNSPECIFIED",
    "domains": [],
    "trustedDomains": [],
    "mapping": {
        "userName": ["preferred_username", "email"],
        "givenName": "given_name",
        "familyName": "family_name",
        "displayName": "name",
        "nickName": "nickname",
        "preferredLanguage": "locale",
        "email": "email",
    },
}
_CLIENT = {
    **{"id": "", "name": "Corp {n}", "position": 1, "providerOptions": OPTIONS},
    "clientId": "idp",
    "clientSecret": "a secret of the provider",
    "scopes": ["groups"],
}
_ENDPOINTS = {
    "authorizationEndpoint": "https://login.corp.example/authorize",
    "tokenEndpoint": "https://login.corp.example/token",
}
_TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
_GENERIC = {
    **_CLIENT,
    "issuer": "https://login.corp.example",
    "clientAuthentication": "basic",
    "idTokenAlgorithms": ["RS256", "ES256"],
    "isIdTokenMapping": True,
    **_ENDPOINTS,
    "userinfoEndpoint": "https://login.corp.example/userinfo",
    "jwksUri": "https://login.corp.example/keys",
    "preset": "",
    "baseUrl": "",
    "realm": "",
    "domain": "",
    "authorizationServer": "",
}
OF_KINDS = {
    "generic_oidc": (_GENERIC,),
    "google": ({**_CLIENT, "hostedDomains": ["corp.example"]},),
    "azure": (
        {
            **_CLIENT,
            "tenant": {"tenantType": "AZURE_AD_TENANT_TYPE_ORGANISATIONS"},
            "allowedTenants": [_TENANT],
            "emailVerified": True,
        },
        {**_CLIENT, "tenant": {"tenantId": _TENANT}},
    ),
    "gitlab": (_CLIENT,),
    "gitlab_self_hosted": ({**_CLIENT, "issuer": "https://git.corp.example"},),
}
_PREFIXES = {"/management/v1": "IDP_OWNER_TYPE_ORG", "/admin/v1": "IDP_OWNER_TYPE_SYSTEM"}
_BY_NAME = {"name": "Corp", "method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}


def _bodies(prefix, owner):
    for kind, bodies in OF_KINDS.items():
        yield f"POST {prefix}/idps/{kind}", bodies
        yield f"PUT {prefix}/idps/{kind}/{{idpId}}", bodies
    yield (
        f"POST {prefix}/idps/templates/_search",
        (
            {"query": NO_PLACE, "queries": [{"idpNameQuery": _BY_NAME}]},
            {"queries": [{"idpIdQuery": {"id": "nobody"}}]},
            {"queries": [{"ownerTypeQuery": {"ownerType": owner}}]},
        ),
    )
    offer = {"idpId": "{connection}", "ownerType": owner}
    yield f"POST {prefix}/policies/login/idps", (offer,)
    yield f"POST {prefix}/policies/login/idps/_search", ({"query": NO_PLACE},)


async def unresolved(host, port):
    raise OSError("no network")


def _made(prefix):
    def maker(kind="google", then=None):
        async def make(world):
            body = world.body_of(OF_KINDS[kind][0])
            body.pop("id")
            connection = await world.made(f"{prefix}/idps/{kind}", "id", **body)
            world.names["connection"] = connection
            if then == "check":
                world.server.service.outgoing._resolve = unresolved
            if then == "deactivate":
                await world.made(f"{prefix}/idps/{connection}/_deactivate", None)
            if then == "offer":
                offer = {"idpId": connection, "ownerType": _PREFIXES[prefix]}
                await world.made(f"{prefix}/policies/login/idps", None, **offer)
            if then == "test":
                record = await world.server.store.get(CONNECTIONS, connection)
                change = connection_tests.new(world.server.service, record, "a test")
                await world.server.store.commit(*change.writes)
                test, _ = change.answer
                return {"idpId": connection, "testId": test.id}
            return {"idpId": connection}

        return make

    for kind in OF_KINDS:
        yield f"PUT {prefix}/idps/{kind}/{{idpId}}", maker(kind)
    yield f"GET {prefix}/idps/templates/{{idpId}}", maker()
    yield f"POST {prefix}/idps/{{idpId}}/_check", maker(then="check")
    yield f"POST {prefix}/idps/{{idpId}}/_test", maker()
    yield f"GET {prefix}/idps/{{idpId}}/tests/{{testId}}", maker(then="test")
    yield f"DELETE {prefix}/idps/templates/{{idpId}}", maker()
    yield f"POST {prefix}/idps/{{idpId}}/_activate", maker(then="deactivate")
    yield f"POST {prefix}/idps/{{idpId}}/_deactivate", maker()
    yield f"POST {prefix}/policies/login/idps", maker()
    yield f"DELETE {prefix}/policies/login/idps/{{idpId}}", maker(then="offer")


BODIES = {
    call: bodies for prefix, owner in _PREFIXES.items() for call, bodies in _bodies(prefix, owner)
}
MADE = {call: make for prefix in _PREFIXES for call, make in _made(prefix)}
