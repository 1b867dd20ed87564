"""Every page in every state that people meet, and how a person gets there."""

from __future__ import annotations


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
    while "Too many tries" not in person.text:
        person.fill(password="wrong")
        person.press("Sign in")


def two_accounts(person, admin):
    person.sign_in_to_demo()
    person.sign_in_to_demo(*admin, prompt="select_account")


def accounts(person, admin):
    two_accounts(person, admin)
    begin(person)


def step_up(person):
    person.sign_in_to_demo()
    person.go("/demo/sign-in?prompt=login")


def expired(person):
    client_id = person.program.told["demo"]["clientId"]
    person.go(f"/ui/login?flow=unknown&client_id={client_id}")


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


def logout_confirm(person, admin):
    two_accounts(person, admin)
    person.go("/oidc/v1/end_session")


def logged_out(person):
    person.sign_in_to_demo()
    person.go("/oidc/v1/end_session")
    person.press("Sign out")


def signed_in(person):
    person.sign_in_to_demo()
    person.go("/")


def several_signed_in(person, admin):
    two_accounts(person, admin)
    person.go("/")


def own_password(person):
    person.sign_in_to_demo()
    person.go("/.well-known/change-password")


def own_password_refused(person):
    own_password(person)
    person.fill(currentPassword="wrong", newPassword="password")
    person.press("Save the new password")


def wrong_host(person):
    port = person.program.issuer.rpartition(":")[2]
    person.go("/ui/login", base=f"http://login.example.com:{port}")


def demo_with_a_problem(person):
    person.go("/demo/sign-in?prompt=none")


# name of the state: (data-page, whether it reports a problem, how to get there)
STATES = {
    "login name": ("login-name", False, begin),
    "login name, empty": ("login-name", True, without_name),
    "password": ("password", False, at_password),
    "password, step-up": ("password", False, step_up),
    "password, wrong": ("password", True, wrong_password),
    "password, throttled": ("password", True, throttled),
    "accounts": ("accounts", False, accounts),
    "explain": ("explain", False, explained),
    "explain, unknown client": ("explain", False, unknown_client),
    "error": ("error", False, lambda person: person.go("/nowhere")),
    "expired": ("expired", False, expired),
    "expired, finished": ("expired", False, finished),
    "expired, logout": ("expired", False, lambda person: person.go("/ui/logout?request=unknown")),
    "logout": ("logout-confirm", False, logout_confirm),
    "logged out": ("logged-out", False, logged_out),
    "start, signed in": ("signed-in", False, signed_in),
    "start, several": ("signed-in", False, several_signed_in),
    "own password": ("change-password", False, own_password),
    "own password, refused": ("change-password", True, own_password_refused),
    "start, nobody": ("signed-in", False, lambda person: person.go("/")),
    "wrong host": ("host-mismatch", False, wrong_host),
    "demo": ("demo", False, lambda person: person.go("/demo")),
    "demo, signed in": ("demo", False, lambda person: person.sign_in_to_demo()),
    "demo, problem": ("demo", True, demo_with_a_problem),
}
