"""A start that is refused ends with 2, makes nothing, and names a cure that works."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from idp.cli import given_options
from idp.cli.commands.serve import serve
from idp.foundation import base64url
from tests.program.first_starts.test_missing_parts import names
from tests.support.programs import program
from tests.support.programs.in_process import run, started

PUBLIC = ("--issuer", "https://login.example.com")
MEMORY = ("--store", "memory://")
KEY = base64url.encode(bytes(range(32)))
EMPTY = "is empty but its key is not new: a volume that is not mounted?"


def key_in(name):
    """Puts a master key into a file."""

    def prepare(directory: Path) -> None:
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(KEY)
        path.chmod(0o600)

    return prepare


def open_token(directory: Path) -> None:
    (directory / "pat").write_text("what was here before\n")
    (directory / "pat").chmod(0o644)


def nothing(directory: Path) -> None:
    """What is refused needs no file."""


# What is there, flags, variables; what is found, the cure as it is named; flags, variables then.
REFUSED = {
    "a host that others reach, with a loopback issuer": (
        nothing,
        (*MEMORY, "--host", "0.0.0.0"),
        {},
        ("host '0.0.0.0' lets other machines in", "(--issuer https://…)"),
        (*MEMORY, "--host", "0.0.0.0", *PUBLIC),
        {},
    ),
    "the same in a container": (
        nothing,
        (*MEMORY, "--host", "::"),
        {},
        ("host '::' lets other machines in", "IDP_ALLOW_TRIAL_NETWORK=true"),
        (*MEMORY, "--host", "::"),
        {"IDP_ALLOW_TRIAL_NETWORK": "true"},
    ),
    "test, with a host that others reach": (
        nothing,
        ("--test", "--host", "0.0.0.0"),
        {},
        ("test is for this machine", "leave out host (--host)"),
        ("--test",),
        {},
    ),
    "test, with a public issuer": (
        nothing,
        ("--test", *PUBLIC),
        {},
        ("test is for issuers on this machine", "leave out test (--test)"),
        (*MEMORY, *PUBLIC),
        {},
    ),
    "a trial with a public issuer": (
        nothing,
        (*MEMORY, *PUBLIC),
        {"IDP_PROFILE": "trial"},
        ("profile trial is for issuers on this machine", "leave out profile"),
        (*MEMORY, *PUBLIC),
        {},
    ),
    "http beyond this machine": (
        nothing,
        (*MEMORY, "--issuer", "http://login.example.com"),
        {},
        ("issuer must be https", "set insecure_http"),
        (*MEMORY, "--issuer", "http://login.example.com", "--insecure-http"),
        {},
    ),
    "a certificate without its key": (
        nothing,
        (*MEMORY, "--tls-cert", "chain.pem"),
        {},
        ("must be given together", "give tls_key, or leave out tls_cert"),
        MEMORY,
        {},
    ),
    "a store in memory, of two processes": (
        nothing,
        (*MEMORY, "--processes", "2"),
        {},
        ("can't be shared by processes", "leave out processes"),
        MEMORY,
        {},
    ),
    "mail that everybody on the way reads": (
        nothing,
        MEMORY,
        {
            "IDP_SMTP_HOST": "mail.example.com",
            "IDP_SMTP_FROM": "no-reply@example.com",
            "IDP_SMTP_SECURITY": "none",
        },
        ("lets everybody on the way read codes and passwords", "use starttls"),
        MEMORY,
        {
            "IDP_SMTP_HOST": "mail.example.com",
            "IDP_SMTP_FROM": "no-reply@example.com",
            "IDP_SMTP_SECURITY": "starttls",
        },
    ),
    "two master keys": (
        key_in("key"),
        MEMORY,
        {"IDP_MASTER_KEY": KEY, "IDP_MASTER_KEY_FILE": "key"},
        ("not both", "give master_key or master_key_file"),
        MEMORY,
        {"IDP_MASTER_KEY_FILE": "key"},
    ),
    "a key in the data directory, and no store": (
        key_in("idp-data/master.key"),
        (),
        {},
        (EMPTY, "; mount it; or,"),
        ("--new-store",),
        {},
    ),
    "a key's file, and no store": (
        key_in("key"),
        (),
        {"IDP_MASTER_KEY_FILE": "key"},
        (EMPTY, "; mount it; or,"),
        ("--new-store",),
        {"IDP_MASTER_KEY_FILE": "key"},
    ),
    "a key, and no store": (
        nothing,
        (),
        {"IDP_MASTER_KEY": KEY},
        (EMPTY, "; mount it; or,"),
        ("--new-store",),
        {"IDP_MASTER_KEY": KEY},
    ),
    "a token that others read": (
        open_token,
        (*MEMORY, "--admin-pat", "pat"),
        {},
        ("the token in pat is open to others (mode 0644)", "chmod 600 pat"),
        (*MEMORY, "--admin-pat", "pat"),
        {},
    ),
}


def refused(directory, *flags, run=run, **settings):
    """The lines that a start is refused with."""
    before = names(directory)
    ran = run(directory, "serve", "--json", "--port", "0", *flags, **settings)

    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert "Traceback" not in ran.stderr
    assert names(directory) == before
    return ran.stderr.splitlines()


def pasted(line):
    """The words of the command that a line ends in."""
    return shlex.split(line.partition(" run: ")[2])


def test_there_are_fourteen():
    assert len(REFUSED) == 14


@pytest.mark.promise("start: refused")
@pytest.mark.every_row
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_and_cured_by_what_is_printed(tmp_path, name):
    prepare, flags, settings, (found, cure), cured_flags, cured_settings = REFUSED[name]
    prepare(tmp_path)
    (line,) = refused(tmp_path, *flags, **settings)
    if cure.startswith("chmod"):
        command, mode, file = shlex.split(cure)
        assert command == "chmod"
        (tmp_path / file).chmod(int(mode, 8))
    announcement = started(tmp_path, *cured_flags, **cured_settings).announcement

    assert found in line
    assert cure in line
    assert announcement["issuer"]


@pytest.mark.promise("start: refused")
def test_every_problem_is_reported_at_once(tmp_path):
    key_in("idp-data/master.key")(tmp_path)
    open_token(tmp_path)
    flags = ("--host", "0.0.0.0", "--admin-pat", "pat", "--port", "70000")
    settings = {"IDP_PROFILE": "trial", "IDP_ISSUER": "https://login.example.com"}
    lines = refused(tmp_path, *flags, IDP_SMTP_USER="x", IDP_SESSION_SECONDS="61", **settings)

    said = ["port must be", "profile trial", "smtp_user is of no use", "session_idle_seconds"]
    said += ["open to others", EMPTY]
    assert [part for part in said if part not in "\n".join(lines)] == []
    assert len(lines) == len(said)
    assert all(line.startswith("idp: ") for line in lines)


@pytest.mark.promise("start: empty store")
def test_the_command_for_a_new_store_is_the_given_one_and_one_flag_more(tmp_path):
    """Wherever the store and the settings lie, pasting it does what was meant."""
    key_in("my key")(tmp_path)
    (tmp_path / "mount point").mkdir()
    (tmp_path / "my settings.toml").write_text('log_level = "warning"\n')
    words = ["--data", "mount point", "--config", "my settings.toml", *PUBLIC]
    words += ["--host", "127.0.0.1", "--processes", "1", "--admin-pat", "a token"]
    (line,) = refused(tmp_path, *words, IDP_MASTER_KEY_FILE="my key")
    idp, serve, *flags = pasted(line)
    assert (idp, serve, flags[-1]) == ("idp", "serve", "--new-store")
    assert sorted(flags) == sorted(["--json", "--port", "0", *words, "--new-store"])
    flags.remove("--json")  # `started` adds it, and the port
    announcement = started(tmp_path, *flags, IDP_MASTER_KEY_FILE="my key").announcement

    assert announcement["issuer"] == PUBLIC[1]
    assert (tmp_path / "mount point/idp.sqlite3").exists()
    assert not (tmp_path / "idp-data").exists()


def test_the_command_does_not_hold_the_password_of_the_database():
    context = serve.make_context("serve", ["--store", "mongodb://root:hunter2@db1/idp", "--test"])

    assert given_options.options(context) == "--store 'mongodb://root:***@db1/idp' --test"


@pytest.mark.promise("start: refused")
@pytest.mark.parametrize(
    "broken",
    [
        {"IDP_MASTER_KEY": "short"},
        {"IDP_MASTER_KEY_FILE": "/nonexistent/key"},
        {
            "IDP_SMTP_HOST": "mail.example.com",
            "IDP_SMTP_FROM": "no-reply@example.com",
            "IDP_SMTP_CA_FILE": "/nonexistent/ca.pem",
        },
    ],
)
def test_a_refused_start_leaves_no_store_in_an_empty_mount_point(tmp_path, broken):
    (tmp_path / "mount").mkdir()

    refused(tmp_path, "--data", "mount", "--new-store", **broken)


@pytest.mark.promise("start: refused")
def test_nor_does_one_that_its_first_child_refuses(tmp_path, start_program):
    (tmp_path / "mount").mkdir()
    flags = ("--data", "mount", "--new-store", "--processes", "2")

    refused(tmp_path, *flags, run=program.run, IDP_MASTER_KEY="short")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_a_host_on_this_machine_needs_neither(tmp_path, host):
    announcement = started(tmp_path, *MEMORY, "--host", host).announcement

    assert announcement["issuer"].startswith("http://localhost:")


@pytest.mark.promise("start: empty store")
def test_an_empty_database_is_not_taken_for_a_new_one(tmp_path, mongodb):
    """Where it can't be seen before the store is opened."""
    flags, settings = ("--store", mongodb), {"IDP_MASTER_KEY": KEY}
    ran = run(tmp_path, "serve", "--json", "--port", "0", *flags, **settings)
    first = started(tmp_path, *flags, "--new-store", **settings)
    again = started(tmp_path, *flags, **settings)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert EMPTY in ran.stderr
    printed = {"idp", "serve", "--json", "--port", "0", *flags, "--new-store"}
    assert set(pasted(ran.stderr)) == printed
    assert again.announcement["demo"] == {**first.announcement["demo"], **moved(again)}


def moved(program):
    """What another port changes of the demo."""
    names = ("redirectUri", "postLogoutRedirectUri", "url")
    return {name: program.announcement["demo"][name] for name in names}


@pytest.mark.promise("start: empty store")
def test_a_volume_that_was_emptied_does_not_start(tmp_path):
    key_in("key")(tmp_path)
    settings = {"IDP_MASTER_KEY_FILE": "key"}
    first = started(tmp_path, "--new-store", **settings)
    (tmp_path / "idp-data").rename(tmp_path / "unmounted")
    (line,) = refused(tmp_path, **settings)
    (tmp_path / "unmounted").rename(tmp_path / "idp-data")
    back = started(tmp_path, **settings)

    assert EMPTY in line
    assert back.announcement["admin"] == {
        **first.announcement["admin"],
        "setupUrl": back_url(first, back),
    }


def back_url(first, back):
    issuers = [each.announcement["issuer"] for each in (first, back)]
    return first.announcement["admin"]["setupUrl"].replace(*issuers)


def test_a_store_file_that_holds_no_installation_is_empty_too(tmp_path):
    key_in("idp-data/master.key")(tmp_path)
    (tmp_path / "idp-data/idp.sqlite3").touch(0o600)
    ran = run(tmp_path, "serve", "--json", "--port", "0")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert EMPTY in ran.stderr


def test_over_an_installation_the_flag_changes_nothing_and_warns(installed, tmp_path):
    warned = started(tmp_path, "--new-store")
    usual = started(tmp_path)

    assert warned.log.count("remove --new-store") == 1
    assert warned.announcement["demo"]["clientId"] == usual.announcement["demo"]["clientId"]
    assert "--new-store" not in usual.log


@pytest.mark.promise("start: empty store")
def test_a_first_start_that_was_killed_goes_on(tmp_path):
    """A key that it had made already is no sign of an installation."""
    key_in("idp-data/master.key")(tmp_path)
    (tmp_path / "idp-data/.first-start").touch(0o600)
    announcement = started(tmp_path).announcement

    assert announcement["demo"]
    assert not (tmp_path / "idp-data/.first-start").exists()
    assert (tmp_path / "idp-data/master.key").read_text() == KEY


def test_a_complete_start_leaves_no_mark_of_the_first(tmp_path):
    started(tmp_path)

    assert not [name for name in names(tmp_path) if "first-start" in name]


@pytest.mark.parametrize("flags", [MEMORY, ("--test",)])
def test_what_begins_anew_each_time_has_no_volume_to_miss(tmp_path, flags):
    key_in("idp-data/master.key")(tmp_path)

    assert started(tmp_path, *flags, IDP_MASTER_KEY=KEY).announcement["demo"]
