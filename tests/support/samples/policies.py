"""Bodies for policies and the texts of messages, and the records that such calls change."""

from __future__ import annotations

from idp.management.policies.policy_kinds import KINDS
from idp.policies.effective import policy_id
from idp.records import POLICIES
from storage import Delete

TEXT = "text/message/{type}/{language}"
PAGES = "text/login/{language}"
DEFAULT_PAGES = "text/default/login/{language}"
PICTURE = "policies/label/{picture}"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAIAAAB/FOjAAAAAE0lEQVR42mPQ9j9OEmIY1UALDQCcrqCBsmU+NwAA"
    "AABJRU5ErkJggg=="
)
FULL = {
    "login": {
        "allowRegister": True,
        "hidePasswordReset": False,
        "lockProfile": False,
        "allowUsernamePassword": True,
        "allowExternalIdp": False,
        "providersFirst": True,
        "forceMfa": False,
        "forceMfaLocalOnly": False,
        "secondFactors": ["SECOND_FACTOR_TYPE_OTP"],
        "multiFactors": ["MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION"],
        "ignoreUnknownUsernames": True,
        "passwordlessType": "PASSWORDLESS_TYPE_NOT_ALLOWED",
        "passwordCheckLifetime": "240h0m0s",
        "secondFactorCheckLifetime": "12h0m0s",
        "multiFactorCheckLifetime": "6h0m0s",
        "externalLoginCheckLifetime": "120h0m0s",
        "mfaInitSkipLifetime": "720h0m0s",
        "defaultRedirectUri": "https://shop.example/{n}",
    },
    "password_complexity": {
        "minLength": 10,
        "hasLowercase": True,
        "hasUppercase": True,
        "hasNumber": True,
        "hasSymbol": True,
        "minLengthWithFactor": 9,
        "minStrength": 2,
    },
    "password_age": {"maxAgeDays": 90, "expireWarnDays": 0},
    "lockout": {"maxPasswordAttempts": 10, "maxOtpAttempts": 5, "lockoutSeconds": 900},
    "label": {
        "primaryColor": "#7a1f3d",
        "backgroundColor": "#fffdf8",
        "warnColor": "#a01212",
        "fontColor": "#221a1a",
        "primaryColorDark": "#ffb3c7",
        "backgroundColorDark": "#1d1416",
        "warnColorDark": "#ffb0a6",
        "fontColorDark": "#f4e9ea",
        "hideLoginNameSuffix": True,
        "disableWatermark": True,
        "radius": 4,
        "layout": "split",
        "font": "serif",
    },
    "privacy": {
        "tosLink": "https://shop.example/{{.Lang}}/terms",
        "privacyLink": "https://shop.example/privacy",
        "helpLink": "https://shop.example/help",
        "docsLink": "https://shop.example/docs",
        "supportEmail": "help-{n}@shop.example",
    },
    "language": {"defaultLanguage": "de", "allowedLanguages": ["ar", "de", "en"]},
}
FULL_TEXT = {
    "subject": "Your address at {{.Application}}",
    "title": "Is it you? {n}",
    "greeting": "Good day",
    "text": "Somebody gave this address at {{.Host}}.",
    "buttonText": "Confirm it here:",
}


FULL_PAGES = {
    "texts": [
        {"screen": "login-name", "key": "Sign in", "text": "Come in {n}"},
        {
            "screen": "page",
            "key": "to continue to %(application)s",
            "text": "on the way to %(application)s",
        },
    ]
}


def address(name, base="management"):
    return f"/{base}/v1/policies/{KINDS[name].path}"


BODIES = {
    **{f"PUT {address(name, 'admin')}": (body,) for name, body in FULL.items()},
    **{
        f"{how} {address(name)}": (body,) for name, body in FULL.items() for how in ("POST", "PUT")
    },
    **{f"PUT /{base}/v1/{TEXT}": (FULL_TEXT,) for base in ("admin", "management")},
    **{f"PUT /{base}/v1/{PAGES}": (FULL_PAGES,) for base in ("admin", "management")},
    **{f"PUT /{base}/v1/{PICTURE}": ({"content": PNG},) for base in ("admin", "management")},
}


async def _forget(world, *kind):
    """Of both organizations: who calls may act in either."""
    for organization in (world.own, world.other):
        id = policy_id(organization.id, *kind)
        if await world.server.store.get(POLICIES, id) is not None:
            await world.server.store.commit(Delete(POLICIES, id))


def _without(name):
    async def make(world):
        await _forget(world, name)
        return {}

    return make


def _with(name):
    async def make(world):
        await _forget(world, name)
        await world.made(address(name), None)
        return {}

    return make


async def letter(world):
    return {"type": "verifyemail", "language": "de"}


async def written_letter(world):
    ids = await letter(world)
    await world.made("/management/v1/text/message/verifyemail/de", None, method="PUT")
    return ids


async def page_texts(world):
    return {"language": "de"}


async def written_page_texts(world):
    await world.made("/management/v1/text/login/de", None, method="PUT", **FULL_PAGES)
    return {"language": "de"}


async def picture(world):
    return {"picture": "logo"}


def _drawn(base):
    async def make(world):
        path = f"/{base}/v1/policies/label/logo"
        await world.made(path, None, method="PUT", content=PNG)
        return {"picture": "logo"}

    return make


# By organization: each has its own, or what the installation has.
OF_WHOEVER_ASKS = {
    f"GET /management/v1/{DEFAULT_PAGES}",
    *(
        f"{how} /management/v1/{path}"
        for how in ("GET", "PUT", "DELETE")
        for path in (TEXT, PAGES, PICTURE)
    ),
}

MADE = {
    **{f"POST {address(name)}": _without(name) for name in FULL},
    **{f"{how} {address(name)}": _with(name) for name in FULL for how in ("PUT", "DELETE")},
    **{
        f"{how} /{base}/v1/{TEXT}": letter
        for base in ("admin", "management")
        for how in ("GET", "PUT")
    },
    f"DELETE /management/v1/{TEXT}": written_letter,
    **{
        f"{how} /{base}/v1/{path}": made
        for base in ("admin", "management")
        for path, made in ((PAGES, page_texts), (PICTURE, picture))
        for how in ("GET", "PUT")
    },
    **{f"GET /{base}/v1/{DEFAULT_PAGES}": page_texts for base in ("admin", "management")},
    **{f"DELETE /{base}/v1/{PICTURE}": _drawn(base) for base in ("admin", "management")},
    f"DELETE /management/v1/{PAGES}": written_page_texts,
}
