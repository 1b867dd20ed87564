"""People who come from elsewhere by the guides' command lines sign in at a browser."""

from __future__ import annotations

import base64
import json
import math
from datetime import UTC, datetime

import pytest

from tests.browser.person import Person
from tests.support.programs.program import Program
from tests.support.sign_in.factors import code_at
from tests.support.transfer.moving import (
    PASSWORD,
    SECRET,
    Printed,
    Terminal,
    auth0_tenant,
    commands,
    keycloak_realm,
)

PRINTED = Printed.read()
FEW, MANY = 50, 100_000
PEOPLE = {"first": 1e-9, "middle": 0.5, "last": 1.0}  # where in the file they stand


class Moved:
    """A service that runs, and the people who were brought into it, each line as it is printed."""

    def __init__(self, place, count):
        self.place, self.count = place, count
        self.program = Program(place, "--admin-pat", "admin.pat").start()

    def by_command(self, name, make):
        """On the store of the service that runs, first as a dry run."""
        terminal = self._terminal(name, make)
        ran = [terminal(f"{line} --format json") for line in (PRINTED.dry_run, PRINTED.run)]
        assert {json.loads(each)["created"] for each in ran} == {self.count}
        assert (terminal.directory / "problems.ndjson").read_text() == ""

    def by_call(self, name, make):
        """Over the service's own address."""
        told = json.loads(self._terminal(name, make)(PRINTED.call))
        assert told["state"] == "JOB_STATE_SUCCEEDED"
        assert (told["created"], told.get("errors", [])) == (self.count, [])

    def _terminal(self, name, make):
        token = (self.place / "admin.pat").read_text().strip()
        address = {"ISSUER": self.program.issuer, "TOKEN": token}
        folder = self.place / name
        terminal = Terminal(folder, IDP_DATA=self.place / "idp-data", **address)
        make(self.count, domain=f"{name}.example", folder=folder)
        line = PRINTED.organization.replace("Acme", name)
        terminal.variables["ORG"] = terminal(f"{line}; echo $ORG").strip()
        terminal(commands(f"{name}.md")[0])
        return terminal


@pytest.fixture(scope="module", params=[FEW, pytest.param(MANY, marks=pytest.mark.load)])
def moved(request, tmp_path_factory):
    """People of Auth0 and of Keycloak, each in an organization of their own."""
    moved = Moved(tmp_path_factory.mktemp("moved"), request.param)
    try:
        moved.by_command("auth0", auth0_tenant)
        moved.by_call("keycloak", keycloak_realm)
        yield moved
        moved.program.stop()
    finally:
        moved.program.kill()


@pytest.fixture
def person(chromium, moved):
    person = Person(chromium, moved.program)
    yield person
    person.context.close()
    assert not person.complaints


@pytest.mark.promise("migration: from Auth0", "migration: from Keycloak")
@pytest.mark.parametrize("source", ["auth0", "keycloak"])
@pytest.mark.parametrize(
    "which", ["first", "last", pytest.param("middle", marks=pytest.mark.load)]
)
def test_people_from_elsewhere_sign_in(person, moved, source, which):
    """Those of Keycloak have an argon2 hash as its version 26 makes it."""
    name = f"user{math.ceil(PEOPLE[which] * moved.count)}@{source}.example"

    person.sign_in_to_demo(name, PASSWORD)

    assert name in person.text


def test_an_authenticator_app_of_keycloak_goes_on_working(person, moved):
    person.go("/demo/sign-in")
    person.sign_in("user2@keycloak.example", PASSWORD)
    assert person.name == "totp"
    secret = base64.b32encode(SECRET.encode()).decode()
    person.fill(code=code_at(secret, datetime.now(UTC)))
    person.press("Verify")

    assert person.name == "demo"


def test_who_is_disabled_at_keycloak_does_not_come_in(person, moved):
    person.go("/demo/sign-in")
    person.sign_in("user3@keycloak.example", PASSWORD)

    assert (person.name, person.status) == ("password", 400)
