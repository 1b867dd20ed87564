"""Every page with values as its head describes them; `said` may put a text of a test in each."""

from datetime import UTC, datetime

from idp.foundation.i18n import message
from idp.identity.users.registration import NOTHING, FormValues
from idp.passwords import policy as password_policy
from idp.policies.pictures import PictureLink, PictureReference
from idp.records import ComplexityRules
from tests.support.pages import (
    account_samples,
    connection_samples,
    console_samples,
    docs_samples,
    factor_samples,
    reset_samples,
)

DEMANDS = password_policy.required_classes(ComplexityRules(has_number=True, has_symbol=True))
POLICY = {"minimum": 8, "maximum": 200, "demands": DEMANDS, "is_strength_rated": True}


def person(said):
    return {"display_name": said("Minnie Mouse"), "login_name": said("minnie@acme.example")}


def common(said):
    return {
        "service_name": said("Acme login"),
        "application_name": said("Acme Wiki"),
        "application_url": "https://wiki.acme.example/?" + said("from=login"),
        "is_own_area": False,
        "problems": [
            {"field": None, "text": said("Something does not fit.")},
            {"field": "password", "text": said("Enter your password.")},
            {"field": "loginName", "text": message("Enter %(what)s.", what=said("it"))},
        ],
        "notice": said("This step was done in another tab."),
        "retry_seconds": 30,
        "action": "/ui/login?" + said("flow=f1"),
        "hidden": [(said("flow"), said("f1")), ("_xsrf", said("2|ab|cd"))],
        "query": [(said("flow"), said("f1"))],
        "cancellable": True,
        "request_id": said("req-7f3a"),
        "now": datetime(2026, 11, 20, 11, 37, 42, tzinfo=UTC),
        "brand_layout": "split",
        "backdrop": PictureReference("/ui/brand/z.jpg?" + said("a"), "image/jpeg", 1600, 900),
        "logo": sign(said),
        "logo_name": said("Acme"),
        "site_icon": sign(said),
        "console": console_samples.frame(said),
        "area": account_samples.frame(said),
    }


def sign(said):
    light = PictureReference("/ui/brand/x.png?" + said("a"), "image/png", 400, 100)
    dark = PictureReference("/ui/brand/y.jpg", "image/jpeg", 100, 100)
    return PictureLink(light, dark, is_own=True, plates={"dark": "light"})


def explanation(said):
    redirect = said("https://wiki.acme.example/callback")
    return {
        "title": said("The redirect_uri is not registered"),
        "sentence": said("The application Acme Wiki asked for an answer at an unknown address."),
        "hint": said("There is an extra / at the end."),
        "detail": message("state was sent %(n)s times", n=2),
        "comparisons": [
            {
                "parameter": said("redirect_uri"),
                "sent": redirect,
                "registered": [redirect + "/", said("http://localhost:3000/callback"), redirect],
            },
            {"parameter": "client_id", "sent": said("wiki"), "registered": []},
        ],
        "rule": said("The value sent must equal a registered one, octet by octet."),
        "fix": said("idp app update wiki --redirect-uri https://wiki.acme.example/callback"),
    }


def demo(said):
    return {
        "sign_in_url": "/demo/login",
        "claims": {
            "iss": "http://localhost:8080",
            said("sub"): said("231543543215423"),
            "aud": ["demo"],
            "exp": 1800000000,
            "urn:idp:iam:org:project:roles": {"editor": {"231543543215423": said("acme.example")}},
        },
        "userinfo": {said("email"): said("minnie@acme.example"), "email_verified": True},
        "tokens": [
            {"name": said("access_token"), "kind": said("opaque"), "value": said("x7Gd…")},
            {"name": "id_token", "kind": "JWT, RS256", "value": "eyJhbGciOi…"},
        ],
        "can_refresh": True,
        "steps": [
            {
                "title": said("Code for tokens"),
                "request": said("POST /oauth/v2/token HTTP/1.1\n" + "code=abc&" * 30),
                "response": said('HTTP/1.1 200 OK\n\n{"access_token": "x7Gd…"}'),
            }
        ],
    }


def entered(said):
    return FormValues(said("Minnie"), said("Mouse"), said("minnie@acme.example"), said("minnie"))


def mails(said):
    return [
        {
            "to": said("minnie@acme.example"),
            "subject": said("Verify your email"),
            "text": said("Enter this code:\n\n    12345678\n"),
            "time": "2026-11-20T11:37:42+00:00",
            "url": url,
        }
        for url in ("/ui/login/verify-email?" + said("code=12345678"), None)
    ]


def registration(said):
    return {
        "register": {
            "entered": entered(said),
            "policy": POLICY,
            "closed": None,
            "login_url": "/ui/login/name?" + said("flow=f1"),
            "providers": connection_samples.providers(said),
        },
        "verify-email": {
            "email": said("minnie@acme.example"),
            "entered": said("12345678"),
            "mail_url": "/dev/mail?" + said("a"),
            "resendable": True,
            "wait_seconds": 42,
            "register_url": "/ui/login/register?" + said("flow=f1"),
            "login_url": "/ui/login/name?" + said("flow=f1"),
        },
        "user-name": {
            "user_name": said("minnie"),
            "login_url": "/ui/login/name?" + said("flow=f1"),
        },
        "email-verified": {},
        "held-mail": {
            "mails": mails(said),
            "first_url": "/dev/mail",
            "next_url": "/dev/mail?after=" + said("m1"),
        },
    }


def logged_out(said):
    return {
        "frames": ["https://wiki.acme.example/logout?" + said("sid=s1")],
        "redirect_url": "/ui/logged-out/onward?" + said("request=r1"),
    }


def error(said):
    return {
        "title_text": None,
        "sentence": None,
        "detail": None,
        "retry_url": "/ui/login?" + said("flow=f1"),
        "retry_form": {
            "method": "GET",
            "action": "/oauth/v2/authorize",
            "fields": [("client_id", said("c1"))],
        },
    }


def decisions(said):
    asked = {
        "account": {"id": said("s1"), **person(said)},
        "scopes": [
            {"text": message("Read %(what)s.", what=said("it")), "icon": "user"},
            {"text": said("urn:idp:iam:x"), "icon": "check"},
        ],
        "back_url": "/ui/login/name?" + said("flow=f1"),
    }
    return {
        "consent": asked,
        "not-allowed": {"account": asked["account"]},
        "device": {"entered": said("WDJB-MJHT")},
        "device-confirm": asked,
    }


def choosing(said):
    return {
        "change-password": {
            "login_name": said("minnie@acme.example"),
            "policy": POLICY,
        },
        "setup": {
            "login_name": said("admin@localhost"),
            "password": said("Kx7f-9QmD"),
            "policy": POLICY,
            "asks_about_registration": True,
            "allows_registration": True,
            "sign_in_url": "/ui/console",
        },
    }


def pages(said):
    accounts = [
        {"id": said("s1"), **person(said)},
        {"id": said("s2"), **person(said)},
    ]
    return {
        "login-name": {
            "login_hint": said("minnie"),
            "suffix": said("acme.example"),
            "passkey": said("{}"),
            "register_url": "/ui/login/register?" + said("flow=f1"),
            "accounts_url": "/ui/login/accounts?" + said("flow=f1"),
            "providers": connection_samples.providers(said),
            "failed_request": said("req-7f3a"),
        },
        **connection_samples.pages(said),
        **account_samples.choices(said),
        **registration(said),
        "password": {
            "login_name": said("minnie@acme.example"),
            "back_url": "/ui/login?" + said("flow=f1"),
            "passkey_url": "/ui/login/passkey?" + said("flow=f1"),
            "reset_url": "/ui/login/reset?" + said("flow=f1"),
            "providers": connection_samples.providers(said),
        },
        **reset_samples.pages(said),
        **factor_samples.pages(said),
        **decisions(said),
        "form-post": {},
        **choosing(said),
        "explain": {"explanation": explanation(said)},
        "error": error(said),
        "logout-confirm": {"accounts": accounts},
        "logged-out": logged_out(said),
        "host-mismatch": {
            "opened": said("http://192.168.1.20:8080"),
            "issuer": said("http://localhost:8080"),
        },
        "signed-in": {
            "accounts": accounts,
            "account_url": "/ui/account",
            "logout_url": "/oidc/v1/end_session?" + said("a"),
            "console_url": "/ui/console?" + said("a"),
            "demo_url": "/demo?" + said("a"),
        },
        "demo": demo(said),
        **account_samples.pages(said, POLICY),
        **console_samples.pages(said),
        **docs_samples.pages(said),
    }


# The other state of pages that have one, without what is optional.
BARE = {
    "login-name": {
        "login_hint": "",
        "suffix": None,
        "passkey": None,
        "register_url": None,
        "accounts_url": None,
        "providers": None,
        "failed_request": None,
    },
    **connection_samples.BARE,
    "organization": {"organizations": [], "login_url": "/ui/login/name"},
    "passkey-enrol": {
        "login_name": "minnie",
        "device_name": "",
        "maximum": 100,
        "options": "{}",
        "is_optional": False,
    },
    "passkey": {
        "login_name": None,
        "options": "{}",
        "other_label": message("Use your password"),
        "other_url": "/ui/login",
    },
    "register": {
        "entered": NOTHING,
        "policy": POLICY,
        "closed": message("Nobody can."),
        "login_url": "/ui/login/name",
        "providers": None,
    },
    "verify-email": {
        "email": None,
        "entered": "",
        "mail_url": None,
        "resendable": False,
        "wait_seconds": 0,
        "register_url": None,
        "login_url": None,
    },
    "user-name": {"user_name": "", "login_url": "/ui/login/name"},
    "email-verified": {},
    "held-mail": {"mails": [], "first_url": None, "next_url": None},
    "password": {
        "login_name": "minnie",
        "back_url": "/ui/login",
        "passkey_url": None,
        "reset_url": None,
        "providers": None,
    },
    **reset_samples.bare(message),
    **factor_samples.bare(message),
    "accounts": {"accounts": [], "is_edited": False, "other_url": None},
    "consent": {
        "account": {"id": "s1", "display_name": "Minnie", "login_name": "minnie"},
        "scopes": [],
        "back_url": "/ui/login/name",
    },
    "not-allowed": {
        "account": {"id": "s1", "display_name": "Minnie", "login_name": "minnie"},
    },
    "device": {"entered": ""},
    "device-confirm": {
        "account": {"id": "s1", "display_name": "Minnie", "login_name": "minnie"},
        "scopes": [],
        "back_url": "/ui/login/name",
    },
    "form-post": {},
    "change-password": {
        "login_name": "minnie",
        "policy": POLICY,
    },
    "setup": {
        "login_name": "",
        "password": None,
        "policy": POLICY,
        "asks_about_registration": False,
        "allows_registration": False,
        "sign_in_url": None,
    },
    "explain": {"explanation": None},
    "error": {
        "title_text": message("Not found"),
        "sentence": "There is nothing here.",
        "detail": message("there is nothing at this address"),
        "retry_url": None,
        "retry_form": None,
    },
    "expired": {"sentence": message("This link was used."), "again_url": None, "has_cookie": True},
    "logout-confirm": {"accounts": []},
    "logged-out": {"frames": [], "redirect_url": None},
    "host-mismatch": {"opened": "http://a", "issuer": "http://b"},
    "signed-in": {
        "accounts": [],
        "account_url": "/ui/account",
        "logout_url": "/oidc/v1/end_session",
        "console_url": None,
        "demo_url": None,
    },
    "demo": {
        "sign_in_url": "/demo/login",
        "claims": None,
        "userinfo": None,
        "tokens": [],
        "can_refresh": False,
        "steps": [],
    },
    **account_samples.bare(POLICY),
    **console_samples.BARE,
    **docs_samples.BARE,
}
