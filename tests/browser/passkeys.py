"""A device that Chromium plays itself (WebAuthn's test API), and people who have one."""

from __future__ import annotations

from tests.browser.states import as_admin, newcomer

PASSWORD = "a long and quiet evening"
_USUAL = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Device:
    """A device of a person's browser. One that `is_refusing` recognizes nobody."""

    def __init__(self, person, *, is_refusing=False):
        self._session = person.context.new_cdp_session(person.page)
        self._session.send("WebAuthn.enable", {})
        options = _USUAL | {"isUserVerified": not is_refusing}
        made = self._session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self._id = made["authenticatorId"]

    def _tell(self, command, **values):
        return self._session.send(f"WebAuthn.{command}", {"authenticatorId": self._id, **values})

    def recognize(self, is_known=True):
        self._tell("setUserVerified", isUserVerified=is_known)

    @property
    def credentials(self):
        return self._tell("getCredentials")["credentials"]

    def copy_to(self, other):
        """Let another device have the same keys, as those do that belong to one account."""
        for each in self.credentials:
            other._tell("addCredential", credential=each)


def new_user(program, person):
    """The login name of somebody whom nobody knows yet."""
    email = newcomer(person)
    as_admin(
        program,
        "/v2/users/human",
        profile={"givenName": "Nora", "familyName": "Nguyễn"},
        email={"email": email, "isVerified": True},
        password={"password": PASSWORD},
    )
    return email


def enrolled(person):
    """The person is signed in to the demo and has a passkey; it, and the login name."""
    device, login_name = Device(person), new_user(person.program, person)
    person.sign_in_to_demo(login_name, PASSWORD)
    person.go("/ui/account/passkeys/new")
    person.press("Add a passkey")
    return device, login_name
