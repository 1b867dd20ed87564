"""Bodies for applications, their secrets and keys, and what such calls use up."""

from __future__ import annotations

from tests.support.samples.searches import BY_NAME, NO_PLACE

# A P-256 key whose private key does not exist.
PUBLIC_KEY = (
    "LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFa2d1"
    "NVpPckJjMndRbFpTQUZUL2VxYnd5dVNBNAppL2hkWWZ4RUlBT0VheHZURzN2NVFwZi9lZXNiRmxOZ1J2dnNmQW5P"
    "TmNNSDUwRVFkV0k4UFFqdGtnPT0KLS0tLS1FTkQgUFVCTElDIEtFWS0tLS0tCg=="
)
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
    "allowedUsers": "OIDC_ALLOWED_USERS_GRANTED",
    "refreshTokenReuseSeconds": 60,
    "loopbackAnyPort": True,
    "requirePushedRequests": True,
    "requirePkce": True,
    "strictAuthMethod": True,
    "confirmReturn": True,
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
_APPS = "/management/v1/projects/{projectId}/apps"
_APP = f"{_APPS}/{{appId}}"
_KEY = f"{_APP}/keys/{{keyId}}"
BODIES = {
    f"POST {_APPS}/_search": (BY_NAME,),
    f"POST {_APP}/keys/_search": ({"query": NO_PLACE},),
    f"POST {_APPS}/oidc": (FULL_APP, {"name": "Shop", **OTHER_SETTINGS}),
    f"POST {_APPS}/api": ({"name": "Stock", "authMethodType": "API_AUTH_METHOD_TYPE_BASIC"},),
    f"POST {_APPS}/oidc/_check": (FULL_APP, OTHER_SETTINGS),
    f"POST {_APP}/_debug": ({"duration": "1h"},),
    f"PUT {_APP}": ({"name": "Shop {n}"},),
    f"PUT {_APP}/oidc_config": (FULL_SETTINGS, OTHER_SETTINGS),
    f"PUT {_APP}/api_config": ({"authMethodType": "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT"},),
    f"POST {_APP}/keys": (FULL_KEY,),
    f"POST {_APP}/oidc_config/_generate_client_secret": ({"overlap": "24h"},),
    f"POST {_APP}/api_config/_generate_client_secret": ({"overlap": "0s"},),
}


async def api(world):
    return {"projectId": world.project, "appId": world.api}


async def new_app(world):
    path = f"/management/v1/projects/{world.project}/apps/oidc"
    return {"projectId": world.project, "appId": await world.made(path, "appId", name="C")}


async def shut(world):
    """An application that may be reactivated."""
    ids = await new_app(world)
    path = f"/management/v1/projects/{world.project}/apps/{ids['appId']}"
    await world.made(f"{path}/_deactivate", None)
    return ids


async def old_secret(world):
    """A secret that is valid beside the current one."""
    ids = await new_app(world)
    app = f"/management/v1/projects/{world.project}/apps/{ids['appId']}"
    await world.made(f"{app}/oidc_config/_generate_client_secret", None, overlap="1h")
    return ids | {"secretId": await replaced(world, app)}


async def replaced(world, path):
    """The id of the secret there that will end."""
    page = await world.owner.get(f"{path}/secrets", **world.here)
    return next(one["id"] for one in page.json()["result"] if "expirationDate" in one)


async def new_key(world):
    path = f"/management/v1/projects/{world.project}/apps/{world.app}/keys"
    id = await world.made(path, "keyId", publicKey=PUBLIC_KEY)
    return {"projectId": world.project, "appId": world.app, "keyId": id}


async def preset(world):
    return {"name": "grafana"}


MADE = {
    f"DELETE {_APP}/secrets/{{secretId}}": old_secret,
    f"DELETE {_APP}": new_app,
    f"POST {_APP}/_deactivate": new_app,
    f"POST {_APP}/_reactivate": shut,
    "GET /management/v1/presets/{name}": preset,
    f"PUT {_APP}/api_config": api,
    f"POST {_APP}/api_config/_generate_client_secret": api,
    f"GET {_KEY}": new_key,
    f"DELETE {_KEY}": new_key,
}
