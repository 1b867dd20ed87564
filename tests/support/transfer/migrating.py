"""`idp migrate` in this process, and files of other systems as these write them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from idp.cli import main

BCRYPT = "$2b$10$CrjTOLOPbUE80VQmrC7cD.N1wX7NhNJXzBv8LCRmTxaXbh4V1ZTSy"


class Migrated(NamedTuple):
    """The exit code of the command, and its output."""

    code: int
    err: str
    body: Any
    rows: list[dict]
    dropped: dict[str, int]

    @property
    def people(self) -> list[dict]:
        return self.body["dataOrgs"]["orgs"][0]["humanUsers"]

    @property
    def error_codes(self) -> list[str]:
        return [each["slug"] for row in self.rows for each in row["problems"]]


def migrate(directory: Path, *arguments: str) -> Migrated:
    """Run it with the output and the report in that directory."""
    output, report = directory / "out.json", directory / "report.ndjson"
    more = [] if "--org" in arguments else ["--org", "org-1"]
    command = ["migrate", *arguments, *more, "--output", str(output), "--report", str(report)]
    ran = CliRunner().invoke(main, command, catch_exceptions=False)
    report_lines = report.read_text().splitlines() if report.exists() else []
    lines = [json.loads(line) for line in report_lines]
    return Migrated(
        code=ran.exit_code,
        err=ran.stderr,
        body=json.loads(output.read_bytes()) if output.is_file() else None,
        rows=[each for each in lines if "row" in each],
        dropped={each["dropped"]: each["count"] for each in lines if "dropped" in each},
    )


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def auth0_user(number: int = 1, **changes: object) -> dict:
    """A user as Auth0's export job of all fields writes it."""
    oid = f"{number:024x}"
    return {
        "user_id": f"auth0|{oid}",
        "email": f"user{number}@example.com",
        "email_verified": True,
        "name": f"Given{number} Family{number}",
        "given_name": f"Given{number}",
        "family_name": f"Family{number}",
        "nickname": f"nick{number}",
        "locale": "en-US",
    } | changes


def auth0_password(number: int = 1, encoded: str = BCRYPT, **changes: object) -> dict:
    """A line of the file that Auth0's support sends."""
    return {
        "_id": {"$oid": f"{number:024x}"},
        "email_verified": True,
        "email": f"user{number}@example.com",
        "passwordHash": encoded,
        "password_set_date": {"$date": "2024-05-06T07:08:09.123Z"},
        "tenant": "acme",
        "connection": "Username-Password-Authentication",
        "_tmp_is_unique": True,
    } | changes


def auth0_files(directory: Path, users: bytes, passwords: bytes = b"[]") -> list[str]:
    """The files, and the arguments that name them."""
    (directory / "users.json").write_bytes(users)
    (directory / "passwords.json").write_bytes(passwords)
    files = {"--users": "users.json", "--passwords": "passwords.json"}
    return ["auth0", *(word for flag, name in files.items() for word in (flag, directory / name))]


def keycloak_user(number: int = 1, **changes: object) -> dict:
    """A user as `kc.sh export` of Keycloak 26 writes it."""
    return {
        "id": f"00000000-0000-4000-8000-{number:012x}",
        "username": f"user{number}",
        "firstName": f"Given{number}",
        "lastName": f"Family{number}",
        "email": f"user{number}@example.com",
        "emailVerified": True,
        "createdTimestamp": 1715000000000 + number,
        "enabled": True,
        "totp": False,
        "credentials": [],
        "disableableCredentialTypes": [],
        "requiredActions": [],
        "realmRoles": ["default-roles-acme"],
        "notBefore": 0,
        "groups": [],
    } | changes


def credential(type: str, data: dict, secret: dict, **changes: object) -> dict:
    """A credential, with its two documents inside of texts."""
    return {
        "id": "3c2f",
        "type": type,
        "userLabel": "My password",
        "createdDate": 1715000000000,
        "secretData": json.dumps(secret),
        "credentialData": json.dumps(data),
    } | changes


def argon2_credential(salt: bytes, value: bytes, memory: int = 7168, **changes: object) -> dict:
    """What Keycloak writes since version 25."""
    parameters = {
        "hashLength": [str(len(value))],
        "memory": [str(memory)],
        "type": ["id"],
        "version": ["1.3"],
        "parallelism": ["1"],
    }
    secret = {
        "value": base64.b64encode(value).decode(),
        "salt": base64.b64encode(salt).decode(),
        "additionalParameters": {},
    }
    data = {"hashIterations": 5, "algorithm": "argon2", "additionalParameters": parameters}
    return credential("password", data, secret, **changes)


def pbkdf2_credential(salt: bytes, value: bytes, rounds: int, algorithm: str) -> dict:
    """What Keycloak wrote until version 24."""
    secret = {
        "value": base64.b64encode(value).decode(),
        "salt": base64.b64encode(salt).decode(),
        "additionalParameters": {},
    }
    data = {"hashIterations": rounds, "algorithm": algorithm, "additionalParameters": {}}
    return credential("password", data, secret)


def totp_credential(secret: str, **changes: object) -> dict:
    """An authenticator app; `secret` are its octets, as Keycloak keeps them."""
    data = {
        "subType": "totp",
        "digits": 6,
        "counter": 0,
        "period": 30,
        "algorithm": "HmacSHA1",
    } | changes
    return credential("otp", data, {"value": secret})


def realm(*users: dict, **changes: object) -> bytes:
    """A whole realm, written as Keycloak does: indented, and `}, {` on one line."""
    document = {
        "id": "5f1b",
        "realm": "acme",
        "notBefore": 0,
        "enabled": True,
        "sslRequired": "external",
        "roles": {"realm": [{"name": "editor"}], "client": {}},
        "groups": [{"name": "staff"}, {"name": "guests"}],
        "requiredCredentials": ["password"],
        "users": list(users),
        "clients": [{"clientId": "shop"}],
        "keycloakVersion": "26.4.0",
    } | changes
    return json.dumps(document, indent=2).encode()
