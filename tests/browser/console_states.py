"""The console's pages in every state that administrators meet (see states)."""

from __future__ import annotations

CONSOLE = "/ui/console"
MINNIE = {
    "profile.givenName": "Minnie",
    "profile.familyName": "Mouse",
    "email.email": "minnie@acme.example",
}


def opened(path):
    return lambda person: person.go(CONSOLE + path)


def enter(person, **fields):
    """Fill fields whose names hold dots."""
    for name, value in fields.items():
        person.page.fill(f'[name="{name}"]', value)


def organization_refused(person):
    person.go(f"{CONSOLE}/organizations/new")
    enter(
        person,
        **{
            "org.name": "Acme",
            "org.domain": "no domain",
            "human.userName": "anna",
            "human.profile.firstName": "Anna",
            "human.profile.lastName": " ",
            "human.email.email": "anna@acme.example",
        },
    )
    person.press("Create the organization")


def at_own_organization(person):
    person.go(f"{CONSOLE}/organizations")
    person.page.locator("tbody a").first.click()
    person.page.wait_for_selector("dl")


def at_deactivation(person):
    at_own_organization(person)
    person.press("Deactivate")


def found(person):
    person.go(f"{CONSOLE}/users?by=userName&text=dem")


def at_user(person):
    found(person)
    person.page.locator("tbody a").first.click()
    person.page.wait_for_selector("dl")


def user_refused(person):
    person.go(f"{CONSOLE}/users/new")
    enter(person, **{**MINNIE, "profile.familyName": " ", "email.email": "minnie@acme"})
    enter(person, **{"password.password": "password"})
    person.press("Create the person")


def shown_code(person):
    program = person.program
    program.minnies = getattr(program, "minnies", 0) + 1
    person.go(f"{CONSOLE}/users/new")
    enter(person, **{**MINNIE, "email.email": f"minnie{program.minnies}@acme.example"})
    person.page.select_option('[name="email.how"]', "returnCode")
    person.press("Create the person")


def not_there(person):
    person.go(f"{CONSOLE}/users/nobody")


# name of the state: (data-page, whether it reports a problem, the way there)
STATES = {
    "console": ("console/overview", False, opened("")),
    "console, organizations": ("console/list", False, opened("/organizations")),
    "console, organization": ("console/show", False, at_own_organization),
    "console, new organization, refused": ("console/action", True, organization_refused),
    "console, deactivate": ("console/action", False, at_deactivation),
    "console, administrators": ("console/list", False, opened("/administrators")),
    "console, new administrator": ("console/action", False, opened("/administrators/new")),
    "console, users": ("console/list", False, found),
    "console, user": ("console/show", False, at_user),
    "console, new person": ("console/action", False, opened("/users/new")),
    "console, new person, refused": ("console/action", True, user_refused),
    "console, code shown once": ("console/made", False, shown_code),
    "console, not there": ("console/message", False, not_there),
}
