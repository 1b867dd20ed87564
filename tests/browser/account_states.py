"""The pages of a person's own account, and the choices about who signs in."""

from __future__ import annotations

from tests.browser import reset_states, states

ACCOUNT = "/ui/account"


def entered(path):
    """At a page of the account of somebody new."""

    def go(person):
        email = reset_states.somebody(person)
        person.go(ACCOUNT + path)
        person.sign_in(email, reset_states.OLD)
        return email

    return go


def profile_refused(person):
    entered("/profile/edit")(person)
    person.page.fill('[name="profile.familyName"]', " ")
    person.page.fill('[name="profile.birthdate"]', "some day")
    person.page.fill('[name="profile.website"]', "nora")
    person.press("Save")


def email_changed(person):
    entered("/email")(person)
    person.fill(email=states.newcomer(person))
    person.press("Save")


def wrong_email_code(person):
    email_changed(person)
    person.fill(verificationCode="1")
    person.press("Verify")


def several_sessions(person):
    email = entered("")(person)
    person.context.clear_cookies()
    person.go(f"{ACCOUNT}/sessions")
    person.sign_in(email, reset_states.OLD)


def connected(person):
    """An application of others was let in; what it makes of that is not looked at."""
    demo, email = person.program.demo(), reset_states.somebody(person)
    project = states.as_admin(person.program, "/management/v1/projects", name=f"Trips of {email}")
    path = f"/management/v1/projects/{project['id']}/apps/oidc"
    about = {"redirectUris": [demo.redirect_uri], "thirdParty": True}
    made = states.as_admin(person.program, path, name="Trip planner", **about)
    demo.client_id = made["clientId"]
    person.page.goto(demo.authorize_url(scope="openid profile email phone"))
    person.sign_in(email, reset_states.OLD)
    person.press("Allow")
    person.go(f"{ACCOUNT}/applications")


def signed_out(person):
    entered("")(person)
    person.go("/oidc/v1/end_session")
    person.press("Sign out")
    person.page.goto(person.program.demo().authorize_url(prompt="select_account"))


def of_another_organization(person):
    email = reset_states.somebody(person)
    scope = "openid urn:idp:iam:org:id:another"
    person.page.goto(person.program.demo().authorize_url(scope=scope))
    person.sign_in(email, reset_states.OLD)


def two_organizations(person):
    """Somebody of another one is signed in with this browser."""
    name = f"Acme {states.newcomer(person).partition('@')[0]}"
    made = states.as_admin(person.program, "/management/v1/orgs", name=name)
    email = reset_states.somebody(person, organization={"orgId": made["id"]})
    person.go(ACCOUNT)
    person.sign_in(email, reset_states.OLD)
    person.page.goto(person.program.demo().authorize_url(prompt="create"))


NOBODY = "nobody"

# name of the state: (who is signed in, data-page, whether it reports a problem, the way there)
STATES = {
    "account": (NOBODY, "account/overview", False, entered("")),
    "account, profile": (NOBODY, "account/show", False, entered("/profile")),
    "account, profile, refused": (NOBODY, "account/form", True, profile_refused),
    "account, e-mail, wrong code": (NOBODY, "account/form", True, wrong_email_code),
    "account, security": (NOBODY, "account/security", False, entered("/security")),
    "account, sessions": (NOBODY, "account/sessions", False, several_sessions),
    "account, applications": (NOBODY, "account/applications", False, connected),
    "account, language": (NOBODY, "account/form", False, entered("/language")),
    "account, data": (NOBODY, "account/show", False, entered("/data")),
    "account, not there": (NOBODY, "account/message", False, entered("/passkeys/none/rename")),
    "accounts, signed out": (NOBODY, "accounts", False, signed_out),
    "accounts, another organization": (NOBODY, "accounts", False, of_another_organization),
    "organization": (NOBODY, "organization", False, two_organizations),
}
