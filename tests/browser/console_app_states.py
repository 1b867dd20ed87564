"""The console's pages about applications, credentials and policies in every state (see states)."""

from __future__ import annotations

CONSOLE = "/ui/console"
NEW = f"{CONSOLE}/applications/new"


def opened(path):
    return lambda person: person.go(CONSOLE + path)


def fill_in(person, host):
    person.go(f"{NEW}?preset=grafana")
    person.fill(name="Grafana", host=host)
    person.press("Create the application")


def host_refused(person):
    fill_in(person, "grafana example")


def registered(person):
    fill_in(person, "grafana.example")


def at_application(person):
    registered(person)
    person.press("I've saved it")
    person.page.wait_for_selector("dl")


def within(path):
    """A page of an application."""

    def go(person):
        at_application(person)
        person.page.goto(person.page.url.partition("?")[0] + path)

    return go


def settings_refused(person):
    within("/settings")(person)
    person.page.fill("textarea[name=redirectUris]", "http://grafana.example/\nhttps://*.example/")
    person.press("Save")


def policy_refused(person):
    person.go(f"{CONSOLE}/policies/login")
    person.fill(passwordCheckLifetime="9999999", secondFactorCheckLifetime="a while")
    person.press("Save")


def at_service_user(person):
    program = person.program
    program.robots = getattr(program, "robots", 0) + 1
    person.go(f"{CONSOLE}/service-users/new")
    person.fill(name="Backup", userName=f"backup-{program.robots}")
    person.press("Create the service account")


def at_token(person):
    at_service_user(person)
    person.press("New access token")


def token_refused(person):
    at_token(person)
    person.fill(expirationDate="2999-01-01")
    person.press("Create the token")


def token_made(person):
    at_token(person)
    person.press("Create the token")


def at_project(person):
    person.go(f"{CONSOLE}/projects")
    person.page.locator("tbody a").first.click()
    person.page.wait_for_selector("dl")


# name of the state: (data-page, whether it reports a problem, the way there)
STATES = {
    "console, applications": ("console/list", False, opened("/applications")),
    "console, new application": ("console/new-application", False, opened("/applications/new")),
    "console, new application, host refused": ("console/new-application", True, host_refused),
    "console, registered": ("console/registered", False, registered),
    "console, application": ("console/show", False, at_application),
    "console, settings, refused": ("console/action", True, settings_refused),
    "console, test sign-in": ("console/test-sign-in", False, within("/test")),
    "console, test result": ("console/test-result", False, within("/test/result")),
    "console, projects": ("console/list", False, opened("/projects")),
    "console, project": ("console/show", False, at_project),
    "console, service users": ("console/list", False, opened("/service-users")),
    "console, service user": ("console/show", False, at_service_user),
    "console, token, refused": ("console/action", True, token_refused),
    "console, token shown once": ("console/made", False, token_made),
    "console, keys": ("console/list", False, opened("/keys")),
    "console, rotation": ("console/action", False, opened("/keys/rotate")),
    "console, events": ("console/events", False, opened("/events")),
    "console, mail": ("console/list", False, opened("/mail")),
    "console, mail, test": ("console/action", False, opened("/mail/test")),
    "console, jobs": ("console/list", False, opened("/jobs")),
    "console, policies": ("console/show", False, opened("/policies")),
    "console, sign-in policy": ("console/action", False, opened("/policies/login")),
    "console, sign-in policy, refused": ("console/action", True, policy_refused),
    "console, policy": ("console/action", False, opened("/policies/label")),
}
