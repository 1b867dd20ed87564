"""Every page in every state that people meet, and how a person gets there."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httpx

from tests.browser import (
    account_states,
    brand_states,
    connection_states,
    console_app_states,
    console_states,
    factor_states,
    import_states,
    passkey_states,
    reset_states,
)
from tests.support.protocol.relying_party import RelyingParty

CALLBACK = "https://trips.example/callback"


def begin(person):
    person.go("/demo/sign-in")


def without_name(person):
    begin(person)
    person.fill(loginName="   ")
    person.press("Continue")


def at_password(person, name="demo"):
    begin(person)
    person.fill(loginName=name)
    person.press("Continue")


def wrong_password(person):
    at_password(person)
    person.fill(password="wrong")
    person.press("Sign in")


def throttled(person):
    at_password(person, "somebody-who-guesses")
    while person.status != 429:
        person.fill(password="wrong")
        person.press("Sign in")


def step_up(person):
    person.go("/demo/sign-in?prompt=login")


def expired(person):
    begin(person)
    flow = re.search(r"flow=([^&]+)", person.page.url)[1]
    person.page.goto(person.page.url.replace(flow, "unknown"))


def finished(person):
    at_password(person)
    address = person.page.url
    person.fill(password=person.program.user[1])
    person.press("Sign in")
    person.page.goto(address)


def explained(person):
    demo = person.program.demo()
    url = demo.authorize_url(redirect_uri=demo.redirect_uri.replace("/demo/", "/Demo/"))
    person.page.goto(url)


def unknown_client(person):
    person.page.goto(person.program.demo().authorize_url(client_id="unknown"))


def logged_out(person):
    person.sign_in_to_demo()
    person.go("/oidc/v1/end_session")
    person.press("Sign out")


def logged_out_elsewhere(person):
    """From an application that has a frame in the page; the page stays where it is."""
    demo, frame = person.program.demo(), "https://wiki.example.com/logout"
    project = as_admin(person.program, "/management/v1/projects", name=f"Wiki {newcomer(person)}")
    made = as_admin(
        person.program,
        f"/management/v1/projects/{project['id']}/apps/oidc",
        name="Wiki",
        redirectUris=[demo.redirect_uri],
        postLogoutRedirectUris=[demo.post_logout_redirect_uri],
        frontChannelLogoutUri=frame,
    )
    demo.client_id = made["clientId"]
    person.page.route(f"{frame}?*", lambda route: route.fulfill(body="Goodbye"))
    person.page.route("**/ui/logged-out/onward?*", lambda route: route.fulfill(status=204))
    person.page.goto(demo.authorize_url())
    person.sign_in(*person.program.user)
    person.page.goto(demo.logout_url(client_id=demo.client_id))
    person.press("Sign out")


def own_password_refused(person):
    person.go("/.well-known/change-password")
    person.fill(currentPassword="wrong", newPassword="password")
    person.press("Save the new password")


def setup_refused(person):
    person.go("/ui/setup")
    person.fill(loginName="somebody", password="wrong", newPassword="a long and quiet evening")
    person.press("Save the new password")


def newcomer(person):
    """An address that nobody has written to."""
    program = person.program
    program.newcomers = getattr(program, "newcomers", 0) + 1
    return f"newcomer{program.newcomers}@example.com"


def at_registration(person):
    begin(person)
    person.press("Create an account")


def below_address(person, email, path):
    """The first such element after an address on the page of held mail."""
    line = f"//p[contains(., '{email}')]"
    return person.page.locator(f"xpath={line}/following-sibling::{path}").first


def registered(person, **fields):
    at_registration(person)
    person.fill(
        givenName="Nora",
        familyName="Nguyễn",
        email=newcomer(person),
        newPassword="a long and quiet evening",
    )
    if "userName" in fields:
        person.page.locator("#step summary").click()
    person.fill(**fields)
    person.press("Create account")


def registration_refused(person):
    registered(person, email="newcomer@", newPassword="password")


def wrong_code(person):
    registered(person)
    person.fill(code="1")
    person.press("Verify")


def user_name_taken(person):
    email = newcomer(person)
    registered(person, email=email, userName=person.program.user[0])
    address = person.page.url
    person.go("/dev/mail")
    code = re.search(r"\b\d{8}\b", below_address(person, email, "pre").inner_text())[0]
    person.page.goto(address)
    person.fill(code=code)
    person.press("Verify")


def mail_held(person):
    registered(person)
    person.go("/dev/mail")


def as_admin(program, path, **body):
    """What the management API answers."""
    answer = httpx.post(
        getattr(program, "listens_at", program.issuer) + path,
        json=body,
        headers={
            "Host": urlsplit(program.issuer).netloc,
            "Authorization": f"Bearer {program.announcement['adminPat']}",
        },
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def device_of(program):
    """What a device of a new application is told."""
    project = as_admin(program, "/management/v1/projects", name="Living room")["id"]
    app = as_admin(
        program,
        f"/management/v1/projects/{project}/apps/oidc",
        name="Television",
        authMethodType="OIDC_AUTH_METHOD_TYPE_NONE",
        grantTypes=["OIDC_GRANT_TYPE_DEVICE_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
    )
    form = {"client_id": app["clientId"], "scope": "openid profile email offline_access"}
    return form | of_client(program, "/oauth/v2/device_authorization", form).json()


def of_client(program, path, form):
    """What a client is answered that sends a form."""
    host = urlsplit(program.issuer).netloc
    base = getattr(program, "listens_at", program.issuer)
    return httpx.post(base + path, data=form, headers={"Host": host})


def wrong_user_code(person):
    person.go("/ui/device")
    person.fill(userCode="WDJB-MJH")
    person.press("Continue")


def at_device(person, device=None):
    """By the link that the device shows, perhaps as a picture."""
    told = device or device_of(person.program)
    person.page.goto(told["verification_uri_complete"])
    person.press("Continue")


def device_allowed(person):
    at_device(person)
    person.press("Allow")


def address_confirmed(person):
    """By the mail to somebody whose account an administrator made."""
    email = newcomer(person)
    profile = {"givenName": "Nora", "familyName": "Nguyễn"}
    known = {"email": {"email": email}, "password": {"password": "a long and quiet evening"}}
    as_admin(person.program, "/v2/users/human", profile=profile, **known)
    person.go("/dev/mail")
    person.page.goto(below_address(person, email, "p/a").get_attribute("href"))
    person.press("Verify")


def application_of_others(program, **checks):
    """An application to be let in."""
    project = as_admin(program, "/management/v1/projects", name="Cosmos", **checks)["id"]
    path = f"/management/v1/projects/{project}/apps/oidc"
    grants = ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"]
    about = {"redirectUris": [CALLBACK], "thirdParty": True, "grantTypes": grants}
    app = as_admin(program, path, name="Trip planner", **about)
    return RelyingParty(program.issuer, app["clientId"], app["clientSecret"], CALLBACK)


def asked_to_consent(person):
    party = application_of_others(person.program)
    person.page.goto(party.authorize_url(scope="openid profile email phone offline_access"))


def not_allowed(person):
    """Nobody has a role in the application's project."""
    party = application_of_others(person.program, projectRoleCheck=True)
    person.page.goto(party.authorize_url())


def form_posted(person):
    """The page stays, because the application has nothing to show."""
    person.page.route(f"{CALLBACK}*", lambda route: route.fulfill(status=204))
    party = application_of_others(person.program)
    url = party.authorize_url(response_mode="form_post", prompt="none")
    person.page.goto(url, wait_until="commit")
    person.page.wait_for_selector("body[data-page=form-post] button")


def wrong_host(person):
    port = person.program.issuer.rpartition(":")[2]
    person.go("/ui/login", base=f"http://login.example.com:{port}")


def opened(path):
    return lambda person: person.go(path)


NOBODY, ONE, TWO, ADMIN = "nobody", "one", "two", "admin"

# name of the state: (who is signed in, data-page, whether it reports a problem, the way there)
STATES = {
    "login name": (NOBODY, "login-name", False, begin),
    "login name, empty": (NOBODY, "login-name", True, without_name),
    "password": (NOBODY, "password", False, at_password),
    "password, step-up": (ONE, "password", False, step_up),
    "password, wrong": (NOBODY, "password", True, wrong_password),
    "password, throttled": (NOBODY, "password", True, throttled),
    "register": (NOBODY, "register", False, at_registration),
    "register, refused": (NOBODY, "register", True, registration_refused),
    "verify e-mail": (NOBODY, "verify-email", False, registered),
    "verify e-mail, wrong code": (NOBODY, "verify-email", True, wrong_code),
    "user name, taken": (NOBODY, "user-name", True, user_name_taken),
    "address": (NOBODY, "verify-email", False, opened("/ui/verify-email")),
    "address, confirmed": (NOBODY, "email-verified", False, address_confirmed),
    "held mail": (NOBODY, "held-mail", False, mail_held),
    "device": (NOBODY, "device", False, opened("/ui/device")),
    "device, wrong code": (NOBODY, "device", True, wrong_user_code),
    "device, confirm": (ONE, "device-confirm", False, at_device),
    "device, allowed": (ONE, "signed-in", False, device_allowed),
    **connection_states.STATES,
    **reset_states.STATES,
    **factor_states.STATES,
    **passkey_states.STATES,
    "accounts": (TWO, "accounts", False, begin),
    **account_states.STATES,
    "consent": (ONE, "consent", False, asked_to_consent),
    "not allowed": (ONE, "not-allowed", False, not_allowed),
    "form post": (NOBODY, "form-post", False, form_posted),
    "explain": (NOBODY, "explain", False, explained),
    "explain, unknown client": (NOBODY, "explain", False, unknown_client),
    "error": (NOBODY, "error", False, opened("/nowhere")),
    "expired": (NOBODY, "expired", False, expired),
    "expired, finished": (NOBODY, "expired", False, finished),
    "expired, logout": (NOBODY, "expired", False, opened("/ui/logout?request=unknown")),
    "logout": (TWO, "logout-confirm", False, opened("/oidc/v1/end_session")),
    "logged out": (NOBODY, "logged-out", False, logged_out),
    "logged out elsewhere": (NOBODY, "logged-out", False, logged_out_elsewhere),
    "start, nobody": (NOBODY, "signed-in", False, opened("/")),
    "start, one": (ONE, "signed-in", False, opened("/")),
    "start, two": (TWO, "signed-in", False, opened("/")),
    "own password": (ONE, "account/password", False, opened("/.well-known/change-password")),
    "own password, refused": (ONE, "account/password", True, own_password_refused),
    "set-up": (NOBODY, "setup", False, opened("/ui/setup")),
    "set-up, refused": (NOBODY, "setup", True, setup_refused),
    "wrong host": (NOBODY, "host-mismatch", False, wrong_host),
    "manual": (NOBODY, "docs", False, opened("/docs")),
    "manual, a part": (NOBODY, "docs-part", False, opened("/docs/the-installation")),
    "manual, errors": (NOBODY, "docs-errors", False, opened("/docs/errors")),
    "demo": (NOBODY, "demo", False, opened("/demo")),
    "demo, signed in": (ONE, "demo", False, opened("/demo")),
    "demo, problem": (NOBODY, "demo", True, opened("/demo/sign-in?prompt=none")),
    **{
        name: (ADMIN, *state)
        for name, state in (
            console_states.STATES
            | console_app_states.STATES
            | brand_states.STATES
            | import_states.STATES
        ).items()
    },
}
