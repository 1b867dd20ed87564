"""Commands on the store follow the issuer that the service was last started with."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.support.programs.program import Program, run

ISSUER = "https://login.example.com"
ANOTHER = "https://id.example.com"
WARNED = f"and this store was last served with {ISSUER}"


pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """A public service that runs; its issuer was given as a flag alone."""
    program = Program(tmp_path_factory.mktemp("public"), "--issuer", ISSUER, "--data", "da ta")
    try:
        yield program.start()
    finally:
        program.kill()


def beside(program, *words, **settings):
    """What a command answers beside the service, and what it says on stderr."""
    flags = ("--data", "da ta", "--format", "json")
    ran = run(program.directory, *words, *flags, **settings)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout), ran.stderr


def examined(program, *flags, **settings):
    """What the doctor finds, by check, and what it says on stderr."""
    ran = run(program.directory, "doctor", "--json", *flags, **settings)
    assert ran.returncode in (0, 1), ran.stderr
    return {each["id"]: each for each in json.loads(ran.stdout)["result"]}, ran.stderr


@pytest.mark.promise("start: last issuer")
@pytest.mark.smoke
def test_the_domain_of_a_new_organization_is_the_public_one(public):
    org, said = beside(public, "org", "create-empty", "--name", "Acorn")
    found, _ = beside(public, "domain", "list", "--org", org["id"])

    assert [each["domainName"] for each in found["result"]] == ["acorn.login.example.com"]
    assert "warning" not in said


@pytest.mark.promise("start: last issuer")
def test_an_application_of_a_preset_is_for_its_own_organization(public):
    project, _ = beside(public, "project", "create", "--name", "Shop")
    where = ("--project", project["id"])
    words = ("--name", "Shop", "--preset", "flask", "--host", "https://shop.example.com")
    app, _ = beside(public, "app", "create", *where, *words)
    found, _ = beside(public, "app", "show", *where, app["appId"])

    assert "OWN_ORGANIZATION" in found["app"]["oidcConfig"]["allowedUsers"]


@pytest.mark.promise("start: last issuer")
def test_a_new_token_ends_as_tokens_of_a_public_installation_do(public):
    user, _ = beside(public, "service-user", "create", "--user-name", "robot", "--name", "Robot")
    token, _ = beside(public, "pat", "create", "--user", user["userId"])
    found, _ = beside(public, "pat", "list", "--user", user["userId"])

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
    org, said = beside(public, "org", "create-empty", "--name", "Birch", IDP_ISSUER=ANOTHER)
    domains, _ = beside(public, "domain", "list", "--org", org["id"])
    (public.directory / "idp.toml").write_text('issuer = "http://localhost:8080"\n')
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
        ran = run(public.directory, *words, "--data", "da ta", IDP_PROFILE="trial")

        assert (ran.returncode, ran.stdout) == (2, "")
        assert "profile trial is for issuers on this machine" in ran.stderr


@pytest.mark.promise("doctor: commands")
@pytest.mark.smoke
def test_what_the_doctor_prints_works_on_the_store_that_it_examined(public):
    (public.directory / "my settings.toml").write_text("log_level = 'warning'\n")
    beside(public, "policy", "set", "login", "--instance", "--allow-register")
    where = ("--data", "da ta", "--config", "my settings.toml")
    found, _ = examined(public, *where)
    (command,) = found["registration.open"]["commands"]
    printed = run(public.directory, "doctor", *where).stdout
    cured = run(public.directory, *shlex.split(command)[1:])

    assert shlex.split(command)[-4:] == [*where]
    assert f"$ {command}\n" in printed
    assert cured.returncode == 0, cured.stderr
    assert examined(public, *where)[0]["registration.open"]["state"] == "ok"


@pytest.mark.promise("start: last issuer")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_each_start_notes_its_issuer_but_that_for_tests(start_program, tmp_path, processes):
    store = ("--store", f"sqlite:///{tmp_path}/idp.sqlite3", "--processes", processes)
    start_program(*store, "--issuer", ISSUER).stop()
    start_program(*store, "--test").stop()
    after_a_test = examined_issuer(tmp_path, *store[:2])
    start_program(*store, "--issuer", ANOTHER).stop()

    assert after_a_test == ISSUER
    assert examined_issuer(tmp_path, *store[:2]) == ANOTHER


@pytest.mark.promise("start: last issuer")
def test_a_service_on_mongodb_is_followed_too(start_program, tmp_path, mongodb):
    start_program("--store", mongodb, "--issuer", ISSUER)

    assert examined_issuer(tmp_path, "--store", mongodb) == ISSUER


def examined_issuer(directory: Path, *flags: str) -> str:
    """The issuer of the last start, as a command that is given another one names it."""
    ran = run(directory, "org", "list", *flags, IDP_ISSUER="https://none.example.com")
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.strip().rpartition(" ")[2]
