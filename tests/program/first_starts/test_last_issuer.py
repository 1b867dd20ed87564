"""Commands on the store follow the issuer that the service was last started with."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from idp.outgoing.failures import Failed
from idp.outgoing.http import Outgoing
from tests.support.programs.in_process import run, started

ISSUER = "https://login.example.com"
ANOTHER = "https://id.example.com"
WARNED = f"and this store was last served with {ISSUER}"


@pytest.fixture
def public(tmp_path, monkeypatch):
    """The directory of a public service, whose name nobody knows; its issuer was given as a flag
    alone."""

    async def unknown(*_):
        raise OSError("no name")

    async def unreachable(*_):
        raise Failed("no name")

    monkeypatch.setattr(Outgoing, "addresses", unknown)
    monkeypatch.setattr(Outgoing, "certificate", unreachable)
    started(tmp_path, "--issuer", ISSUER, "--data", "da ta")
    return tmp_path


def answered(directory, *words, **settings):
    """What a command answers, and what it says on stderr."""
    flags = ("--data", "da ta", "--format", "json")
    ran = run(directory, *words, *flags, **settings)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout), ran.stderr


def examined(directory, *flags, **settings):
    """What the doctor finds, by check, and what it says on stderr."""
    ran = run(directory, "doctor", "--json", *flags, **settings)
    assert ran.returncode in (0, 1), ran.stderr
    return {each["id"]: each for each in json.loads(ran.stdout)["result"]}, ran.stderr


@pytest.mark.promise("start: last issuer")
def test_the_domain_of_a_new_organization_is_the_public_one(public):
    org, said = answered(public, "org", "create-empty", "--name", "Acorn")
    found, _ = answered(public, "domain", "list", "--org", org["id"])

    assert [each["domainName"] for each in found["result"]] == ["acorn.login.example.com"]
    assert "warning" not in said


@pytest.mark.promise("start: last issuer")
def test_an_application_of_a_preset_is_for_its_own_organization(public):
    project, _ = answered(public, "project", "create", "--name", "Shop")
    where = ("--project", project["id"])
    words = ("--name", "Shop", "--preset", "flask", "--host", "https://shop.example.com")
    app, _ = answered(public, "app", "create", *where, *words)
    found, _ = answered(public, "app", "show", *where, app["appId"])

    assert "OWN_ORGANIZATION" in found["app"]["oidcConfig"]["allowedUsers"]


@pytest.mark.promise("start: last issuer")
def test_a_new_token_ends_as_tokens_of_a_public_installation_do(public):
    user, _ = answered(public, "service-user", "create", "--user-name", "robot", "--name", "Robot")
    token, _ = answered(public, "pat", "create", "--user", user["userId"])
    found, _ = answered(public, "pat", "list", "--user", user["userId"])

    assert token["tokenId"] == found["result"][0]["id"]
    assert found["result"][0]["expirationDate"]


@pytest.mark.promise("start: last issuer")
def test_the_doctor_makes_the_checks_from_outside(public):
    found, said = examined(public, "--data", "da ta")

    assert "only be reached from this machine" not in found["issuer.tls"]["found"]
    assert found["issuer.tls"]["state"] != "skipped"
    assert said == ""


@pytest.mark.promise("start: last issuer")
def test_an_issuer_that_is_given_wins_and_is_warned_of_in_one_line(public):
    org, said = answered(public, "org", "create-empty", "--name", "Birch", IDP_ISSUER=ANOTHER)
    domains, _ = answered(public, "domain", "list", "--org", org["id"])
    (public / "idp.toml").write_text('issuer = "http://localhost:8080"\n')
    found, told = examined(public, "--data", "da ta", "--config", "idp.toml")

    assert [each["domainName"] for each in domains["result"]] == ["birch.id.example.com"]
    assert (said.count("\n"), WARNED in said, f"{ANOTHER} (environment IDP" in said) == (1, 1, 1)
    assert found["issuer.tls"]["state"] == "skipped"
    assert (told.count("\n"), WARNED in told, "file idp.toml" in told) == (1, 1, 1)


def test_the_same_issuer_given_is_no_matter(public):
    assert examined(public, "--data", "da ta", IDP_ISSUER=ISSUER)[1] == ""


def test_what_serving_alone_needs_is_not_asked_of_a_command(public):
    """The service has a host for a public issuer, and a command for it is not given that."""
    assert examined(public, "--data", "da ta", IDP_HOST="0.0.0.0")[1] == ""


def test_settings_that_the_issuer_does_not_allow_are_refused(public):
    for words in (["doctor"], ["org", "list"], ["schema", "upgrade"]):
        ran = run(public, *words, "--data", "da ta", IDP_PROFILE="trial")

        assert (ran.returncode, ran.stdout) == (2, "")
        assert "profile trial is for issuers on this machine" in ran.stderr


@pytest.mark.promise("doctor: commands")
def test_what_the_doctor_prints_works_on_the_store_that_it_examined(public):
    (public / "my settings.toml").write_text("log_level = 'warning'\n")
    answered(public, "policy", "set", "login", "--instance", "--allow-register")
    where = ("--data", "da ta", "--config", "my settings.toml")
    found, _ = examined(public, *where)
    (command,) = found["registration.open"]["commands"]
    printed = run(public, "doctor", *where).stdout
    cured = run(public, *shlex.split(command)[1:])

    assert shlex.split(command)[-4:] == [*where]
    assert f"$ {command}\n" in printed
    assert cured.returncode == 0, cured.stderr
    assert examined(public, *where)[0]["registration.open"]["state"] == "ok"


@pytest.mark.promise("start: last issuer")
def test_each_start_notes_its_issuer_but_that_for_tests(tmp_path):
    store = ("--store", f"sqlite:///{tmp_path}/idp.sqlite3")
    started(tmp_path, *store, "--issuer", ISSUER)
    started(tmp_path, *store, "--test")
    after_a_test = examined_issuer(tmp_path, *store)
    started(tmp_path, *store, "--issuer", ANOTHER)

    assert after_a_test == ISSUER
    assert examined_issuer(tmp_path, *store) == ANOTHER


@pytest.mark.promise("start: last issuer")
def test_a_start_of_two_processes_notes_its_issuer(start_program, tmp_path):
    start_program("--processes", "2", "--issuer", ISSUER)

    assert examined_issuer(tmp_path) == ISSUER


@pytest.mark.promise("start: last issuer")
def test_a_service_on_mongodb_is_followed_too(tmp_path, mongodb):
    started(tmp_path, "--store", mongodb, "--issuer", ISSUER)

    assert examined_issuer(tmp_path, "--store", mongodb) == ISSUER


def examined_issuer(directory: Path, *flags: str) -> str:
    """The issuer of the last start, as a command that is given another one names it."""
    ran = run(directory, "org", "list", *flags, IDP_ISSUER="https://none.example.com")
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.strip().rpartition(" ")[2]
