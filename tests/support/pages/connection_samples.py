"""The pages of a sign-in with another provider, with values as their heads describe them."""

from handlers.login.providers import ProviderButtons
from idp.oauth.sign_in.upstream_account import NewNames


def providers(said):
    """More connections than a page displays as buttons."""
    names = [(said(f"c{n}"), said(f"Corp {n}")) for n in range(6)]
    first = [(*each, "brand-okta") for each in names[:4]]
    return ProviderButtons("/ui/login/idp?" + said("flow=f1"), first, names[4:])


def pages(said):
    known = {
        "provider": said("Corp"),
        "identity": said("minnie@acme.example"),
        "identity_id": said("i1"),
    }
    return {
        "idp-account": {
            **known,
            "names": NewNames(said("minnie"), said("Minnie"), said("Mouse")),
            "may_create": True,
            "login_url": "/ui/login/name?" + said("flow=f1"),
        },
        "connection-test": {"provider": said("Corp"), "result_url": None},
        "idp-link": {
            **known,
            "account": {
                "id": said("s1"),
                "display_name": said("Minnie Mouse"),
                "login_name": said("minnie@acme.example"),
            },
        },
    }


BARE = {
    "idp-account": {
        "provider": "Corp",
        "identity": "minnie",
        "identity_id": "i1",
        "names": NewNames("", "", ""),
        "may_create": False,
        "login_url": None,
    },
    "connection-test": {"provider": "", "result_url": "/ui/console/connections/c1/tests/t1"},
    "idp-link": {
        "provider": "Corp",
        "identity": "minnie",
        "identity_id": "i1",
        "account": {"id": "s1", "display_name": "Minnie", "login_name": "minnie"},
    },
}
