"""What docs/how-to/migrate tells: files of another system, the command lines, the package."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import bcrypt
from argon2.low_level import Type, hash_secret_raw
from click.testing import CliRunner

from idp.cli import main
from idp.transfer.jobs import runner as job_runner
from idp.transfer.package import format as package_format
from tests.support.programs.program import environment
from tests.support.transfer.migrating import (
    argon2_credential,
    auth0_password,
    auth0_user,
    keycloak_user,
    lines,
    pbkdf2_credential,
    realm,
    totp_credential,
)
from tests.support.transfer.packaged import done, held

GUIDES = Path(__file__).parents[3] / "docs" / "how-to" / "migrate"
PASSWORD = "a lamp in the attic"
SECRET = "xnqNbYLqaeVlOZtzUAJh"  # of an authenticator app, as Keycloak keeps one


def commands(guide):
    """Each command line of a guide that is ours, as it is printed."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    return re.findall(r"^ {4,}(idp migrate .+)$", text, re.MULTILINE)


def run(command, org_id="acme"):
    """In the current directory, with ORG in the environment of the shell."""
    words = shlex.split(command.replace('"$ORG"', org_id))
    ran = CliRunner().invoke(main, words[1:], catch_exceptions=False)
    assert ran.exit_code == 0, ran.stderr
    body = json.loads(Path("importBody.json").read_bytes())
    assert Path("report.ndjson").exists()
    return body["dataOrgs"]["orgs"][0]


class Terminal:
    """A shell in a directory, with our command on its path: it runs lines as guides print them."""

    def __init__(self, directory, **variables):
        directory.mkdir()
        self.directory = directory
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.variables = {"PATH": path, **variables}

    def __call__(self, line):
        """What it prints; it has to end well."""
        ended = subprocess.run(
            ["/bin/sh", "-ec", line],
            cwd=self.directory,
            env=environment(**self.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


class Printed(NamedTuple):
    """The lines that the first page of the guides prints."""

    organization: str  # sets $ORG
    dry_run: str
    run: str
    call: str  # wants $ISSUER and $TOKEN

    @classmethod
    def read(cls):
        text = (GUIDES / "README.md").read_text(encoding="utf-8")
        (organization,) = re.findall(r"^ {4,}(ORG=.+)$", text, re.MULTILINE)
        dry_run, run = re.findall(r"^ {4,}(idp import .+)$", text, re.MULTILINE)
        (call,) = re.findall(r"^ {4,}(curl (?:.+\\\n)*.+)$", text, re.MULTILINE)
        return cls(organization, dry_run, run, call)


async def imported(service, org_id, folder="."):
    """The job that has taken in the file that the command wrote there, into an organization that
    exists by then."""
    await done(service, {"orgId": org_id, "org": {"name": org_id.title()}})
    hold = await held(service, source=str(Path(folder, "importBody.json").resolve()))
    return await job_runner.work(service, hold, package_format.open_package)


def argon2(password, n):
    """As Keycloak 26 hashes, with its own parameters."""
    salt = n.to_bytes(16, "big")
    value = hash_secret_raw(
        password.encode(), salt, 5, 7168, parallelism=1, hash_len=32, type=Type.ID
    )
    return argon2_credential(salt, value)


def pbkdf2(password):
    """As Keycloak hashed until version 24."""
    value = hashlib.pbkdf2_hmac("sha256", password.encode(), b"0123456789abcdef", 27500, 64)
    return pbkdf2_credential(b"0123456789abcdef", value, 27500, "pbkdf2-sha256")


def auth0_tenant(count, domain="example.com", folder="."):
    """Files of that many people, of whom all have the same password."""
    encoded = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode()
    Path(folder, "users.json").write_bytes(
        lines(*(auth0_user(n, email=f"user{n}@{domain}") for n in range(1, count + 1)))
    )
    Path(folder, "passwords.json").write_bytes(
        lines(
            *(auth0_password(n, encoded, email=f"user{n}@{domain}") for n in range(count, 0, -1))
        )
    )


def keycloak_realm(count, domain="example.com", folder="."):
    """One file and a folder of the same people: the second has an app, the third is disabled, the
    fourth has to change the password, the fifth has one of before Keycloak 25."""
    held = argon2(PASSWORD, 1)
    more = [
        {},
        {"credentials": [held, totp_credential(SECRET)], "totp": True},
        {"enabled": False},
        {"requiredActions": ["UPDATE_PASSWORD"]},
        {"credentials": [pbkdf2(PASSWORD)]},
    ]
    users = [
        keycloak_user(
            n,
            **{"credentials": [held], "email": f"user{n}@{domain}"}
            | (more[n - 1] if n <= len(more) else {}),
        )
        for n in range(1, count + 1)
    ]
    Path(folder, "realm.json").write_bytes(realm(*users))
    export = Path(folder, "export")
    export.mkdir()
    (export / "acme-realm.json").write_bytes(realm())
    for part in range(0, count, 50):
        document = {"realm": "acme", "users": users[part : part + 50]}
        (export / f"acme-users-{part // 50}.json").write_text(json.dumps(document, indent=2))
