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


def open_group(person, name):
    """Open the part of a form that has this field."""
    person.page.locator(f"details:has([name='{name}']) > summary").click()


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
    open_group(person, "password.password")
    enter(person, **{"password.password": "password"})
    person.press("Create the user")


def shown_code(person):
    program = person.program
    program.minnies = getattr(program, "minnies", 0) + 1
    person.go(f"{CONSOLE}/users/new")
    enter(person, **{**MINNIE, "email.email": f"minnie{program.minnies}@acme.example"})
    person.page.select_option('[name="email.how"]', "returnCode")
    person.press("Create the user")


def at_bulk(person):
    person.go(f"{CONSOLE}/users")
    person.page.check("[name=user] >> nth=0")
    person.page.select_option("[name=do]", "delete")
    person.press("Continue")


def bulk_refused(person):
    at_bulk(person)
    person.fill(confirm="2")
    person.press("Delete")


def bulk_done(person):
    person.go(f"{CONSOLE}/users")
    for box in person.page.locator("[name=user]").all():
        box.check()
    person.page.select_option("[name=do]", "unlock")
    person.press("Continue")
    person.press("Unlock")


def at_group(person):
    """A group of its own, so that no other state changes it."""
    program = person.program
    program.groups = getattr(program, "groups", 0) + 1
    person.go(f"{CONSOLE}/groups/new")
    enter(person, name=f"Sales {program.groups}", externalId="s-1")
    person.press("Create the group")
    person.page.wait_for_selector("dl")


def group_refused(person):
    at_group(person)
    person.go(f"{CONSOLE}/groups/new")
    enter(person, name=f"SALES {person.program.groups}")
    person.press("Create the group")


def at_connection(person):
    """A connection of its own, so that no other state changes it."""
    program = person.program
    program.connections = getattr(program, "connections", 0) + 1
    person.go(f"{CONSOLE}/connections/new/generic_oidc")
    enter(
        person,
        name=f"Corp {program.connections}",
        issuer="https://login.corp.example",
        clientId="idp",
        clientSecret="a secret of the provider",  # noqa: S106 - of a test
    )
    person.press("Create the connection")
    person.page.wait_for_selector("dl")


def at_check(person):
    at_connection(person)
    person.press("Check")


def submit(person):
    with person.page.expect_navigation():
        person.page.locator("#step button[data-kind=primary]").click()


def at_test(person):
    at_connection(person)
    person.follow(person.page.locator('main a[href*="/test"]').first)


def at_test_page(person):
    at_test(person)
    submit(person)
    person.page.wait_for_selector("[data-page=connection-test]")


def at_test_end(person):
    """The provider can't be reached, so the test ends before the browser leaves."""
    at_test_page(person)
    submit(person)
    person.page.wait_for_selector('main a[href*="/tests/"]')


def at_test_result(person):
    at_test_end(person)
    with person.page.expect_navigation():
        person.page.locator('main a[href*="/tests/"]').click()
    person.page.wait_for_selector("dl")


def connection_refused(person):
    person.go(f"{CONSOLE}/connections/new/google")
    enter(person, name="Google", clientId="idp")
    person.press("Create the connection")


def at_offer(person):
    at_connection(person)
    person.press("Offer")


def at_end_of_session(person):
    person.go(f"{CONSOLE}/sessions")
    person.page.locator("tbody a[href*='/end']").last.click()
    person.page.wait_for_selector("form#step")


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
    "console, search": ("console/search", False, opened("/search?q=de")),
    "console, search without results": ("console/search", False, opened("/search?q=nothing")),
    "console, search refused": ("console/search", True, opened("/search?q=a")),
    "console, users, none found": ("console/list", False, opened("/users?text=zzz&by=lastName")),
    "console, connections": ("console/list", False, opened("/connections")),
    "console, users": ("console/list", False, found),
    "console, user": ("console/show", False, at_user),
    "console, bulk action": ("console/action", False, at_bulk),
    "console, bulk action, refused": ("console/action", True, bulk_refused),
    "console, bulk action, done": ("console/show", False, bulk_done),
    "console, group": ("console/show", False, at_group),
    "console, groups": ("console/list", False, opened("/groups")),
    "console, new group, refused": ("console/action", True, group_refused),
    "console, kinds of connections": ("console/show", False, opened("/connections/new")),
    "console, connection": ("console/show", False, at_connection),
    "console, new connection, refused": ("console/action", True, connection_refused),
    "console, check a connection": ("console/action", False, at_check),
    "console, test a connection": ("console/action", False, at_test),
    "test of a connection": ("connection-test", False, at_test_page),
    "test of a connection, the end": ("connection-test", False, at_test_end),
    "console, result of a test": ("console/show", False, at_test_result),
    "console, offer a connection": ("console/action", False, at_offer),
    "console, sessions": ("console/list", False, opened("/sessions")),
    "console, end a session": ("console/action", False, at_end_of_session),
    "console, new person": ("console/action", False, opened("/users/new")),
    "console, new person, refused": ("console/action", True, user_refused),
    "console, code shown once": ("console/made", False, shown_code),
    "console, not there": ("console/message", False, not_there),
}
