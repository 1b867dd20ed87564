"""Files of other systems in the shapes in which their own tools, shells and spreadsheets write
them."""

from __future__ import annotations

import json

import pytest

from tests.support.transfer.migrating import auth0_user, keycloak_user, lines, migrate, realm

ACME = realm(keycloak_user(1), keycloak_user(2), realm="acme")
BETA = realm(keycloak_user(3), realm="beta")
WITHOUT = realm(realm="void").replace(b'"users"', b'"others"')
LISTED = b"[ " + ACME + b" , " + WITHOUT + b"," + BETA + b" ]\r\n"
USERS = json.dumps([keycloak_user(1), keycloak_user(2)]).encode()
SCIM = b"""{"schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"], "totalResults": 1,
 "Resources": [{"userName": "ada", "emails": [{"value": "ada@x.ch"}]}]}"""
AUTH0 = [auth0_user(1), auth0_user(2)]


def user_names(made):
    return [each["user"]["userName"] for each in made.people]


def migrated(tmp_path, command, option, name, content, *flags):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    more = ["--no-passwords"] if command == "auth0" else []
    return migrate(tmp_path, command, option, str(tmp_path / name), *more, *flags)


@pytest.mark.promise("migration: from Keycloak")
@pytest.mark.parametrize(
    ("content", "flags", "expected"),
    [
        pytest.param(LISTED, ["--realm-name", "acme"], [1, 2], id="first of a list of realms"),
        pytest.param(LISTED, ["--realm-name", "beta"], [3], id="last of a list of realms"),
        pytest.param(b"[" + BETA + b"]", [], [3], id="a list of one realm"),
        pytest.param(BETA, ["--realm-name", "beta"], [3], id="one realm that is named"),
        pytest.param(USERS, [], [1, 2], id="kcadm.sh get users"),
        pytest.param(b"\xef\xbb\xbf" + ACME, [], [1, 2], id="a byte order mark"),
        pytest.param(ACME.decode().encode("utf-16"), [], [1, 2], id="UTF-16 of PowerShell"),
        pytest.param(ACME.decode().encode("utf-16-le"), [], [1, 2], id="UTF-16 without a mark"),
        pytest.param(ACME.replace(b"\n", b"\r\n\r\n"), [], [1, 2], id="CRLF and empty lines"),
    ],
)
def test_users_of_keycloak_are_read_in_every_shape(tmp_path, content, flags, expected):
    made = migrated(tmp_path, "keycloak", "--realm", "realm.json", content, *flags)

    assert (made.code, user_names(made)) == (0, [f"user{n}" for n in expected])


def test_users_in_one_file_beside_the_realm_are_read(tmp_path):
    for name, content in {"acme-realm": WITHOUT, "acme-users": ACME, "beta-users": BETA}.items():
        migrated(tmp_path, "keycloak", "--realm", f"export/{name}.json", content)

    made = migrate(
        tmp_path, "keycloak", "--realm", str(tmp_path / "export"), "--realm-name", "acme"
    )

    assert user_names(made) == ["user1", "user2"]


@pytest.mark.parametrize(
    ("content", "flags", "told"),
    [
        (LISTED, [], "choose one with --realm-name acme or void or beta"),
        (LISTED, ["--realm-name", "x"], "has no realm x: choose with --realm-name acme or void"),
        (LISTED, ["--realm-name", "void"], "no list of users"),
        (BETA, ["--realm-name", "acme"], "has no realm acme: choose with --realm-name beta"),
        (USERS, ["--realm-name", "acme"], "names no realm: leave out --realm-name"),
        (WITHOUT, [], "Export the realm by kc.sh export"),
        (b"[7]", [], "it has no realm"),
    ],
)
def test_a_realm_that_can_not_be_told_is_refused_by_the_option(tmp_path, content, flags, told):
    made = migrated(tmp_path, "keycloak", "--realm", "realm.json", content, *flags)

    assert (made.code, made.body) == (2, None)
    assert told in made.err


def test_the_file_of_a_realm_whose_users_are_beside_it_is_refused_by_its_folder(tmp_path):
    made = migrated(tmp_path, "keycloak", "--realm", "acme-realm.json", WITHOUT)

    assert f"name the folder: --realm {tmp_path}" in made.err


@pytest.mark.promise("migration: from Auth0")
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lines(*AUTH0), id="lines of the export job"),
        pytest.param(json.dumps(AUTH0).encode(), id="a list"),
        pytest.param(
            b"".join(b"[%s]\n" % json.dumps(each).encode() for each in AUTH0), id="lists"
        ),
        pytest.param(lines(*({"start": 0, "users": [each]} for each in AUTH0)), id="pages"),
        pytest.param(lines(*AUTH0).replace(b"\n", b"\r\n\r\n"), id="CRLF and empty lines"),
        pytest.param(lines(*AUTH0).decode().encode("utf-16"), id="UTF-16"),
    ],
)
def test_users_of_auth0_are_read_in_every_shape(tmp_path, content):
    made = migrated(tmp_path, "auth0", "--users", "users.json", content)

    assert (made.code, user_names(made)) == (0, ["user1@example.com", "user2@example.com"])
    assert made.rows == []


@pytest.mark.parametrize(
    ("command", "option", "name", "content", "told"),
    [
        ("auth0", "--users", "users.csv", b"email\n", "use idp migrate csv --users"),
        ("auth0", "--users", "users.json", b"\x1f\x8b\x08\x00", "compressed: unpack it first"),
        ("ndjson", "--users", "x", b'{"dataOrgs": {}}', "use idp import"),
        ("ndjson", "--users", "x", b'{"orgs": []}', "use idp import"),
        ("ndjson", "--users", "x", b'{"users": [{"localId": "7"}]}', "in the list users"),
        ("ndjson", "--users", "x", b'{"Users": []}', "in the list Users"),
        ("ndjson", "--users", "x", b'{"result": [{"userId": "7"}]}', "in the list result"),
        ("ndjson", "--users", "x", SCIM, "in the list Resources"),
        ("ndjson", "--users", "x", b'{"@odata.context": "", "value": [{}, {}]}', "list value"),
        ("ndjson", "--users", "x", b'{"orgId": "7", "humanUsers": []}', "list humanUsers"),
        ("ndjson", "--users", "x", ACME, "use idp migrate keycloak"),
        ("ndjson", "--users", "x", lines(*AUTH0), "use idp migrate auth0"),
        ("csv", "--users", "x", USERS, "use idp migrate ndjson, auth0 or keycloak"),
        (
            "csv",
            "--users",
            "x",
            b'{"id":1,"realm":"a"}',
            "use idp migrate ndjson, auth0 or keycloak",
        ),
        ("csv", "--users", "x", b"email;name\na@x.ch;A\n", "--delimiter ';'"),
        ("csv", "--users", "x", b"email\tname\na@x.ch\tA\n", "--delimiter tab"),
        ("csv", "--users", "x", b"PK\x03\x04", "compressed: unpack it first"),
    ],
)
def test_a_file_for_another_command_or_option_is_refused_by_its_name(
    tmp_path, command, option, name, content, told
):
    made = migrated(tmp_path, command, option, name, content)

    assert (made.code, made.body) == (2, None)
    assert told in made.err


def test_a_person_with_one_list_of_objects_is_read_as_a_person(tmp_path):
    content = lines({"userName": "ada", "emails": [{"value": "ada@x.ch"}]})

    made = migrated(tmp_path, "ndjson", "--users", "x", content)

    assert (made.code, len(made.rows)) == (3, 1)


def test_white_space_around_a_hash_is_not_part_of_it(tmp_path):
    hashed = "{SHA-256}XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg="
    person = {
        "userName": "ada",
        "profile": {"firstName": "Ada", "lastName": "Lovelace"},
        "email": {"email": "ada@x.ch"},
        "hashedPassword": {"value": f" {hashed}\r\n"},
    }

    made = migrated(tmp_path, "ndjson", "--users", "x", lines(person))

    (person,) = made.people
    assert person["user"]["hashedPassword"]["value"] == hashed


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf\n", b" \r\n"])
@pytest.mark.parametrize(
    ("command", "option"),
    [("ndjson", "--users"), ("csv", "--users"), ("auth0", "--users"), ("keycloak", "--realm")],
)
def test_an_empty_file_is_refused(tmp_path, command, option, content):
    made = migrated(tmp_path, command, option, "x", content)

    assert (made.code, made.body) == (2, None)
    assert "is empty" in made.err


@pytest.mark.promise("migration: from tables and lines")
@pytest.mark.parametrize(
    ("content", "flags"),
    [
        pytest.param(b"email,phone\n\nada@x.ch,\n,\n \n", [], id="empty rows"),
        pytest.param(b"sep=;\r\nemail;phone\r\nada@x.ch;\r\n", ["--delimiter", ";"], id="sep="),
        pytest.param(
            "email\tx\nada@x.ch\tö\n".encode("utf-16"), ["--delimiter", "tab"], id="Excel"
        ),
        pytest.param(
            "email,x\nada@x.ch,ö\n".encode("utf-8-sig"), ["--encoding", "cp1252"], id="a mark"
        ),
        pytest.param(b'"email","name"\n"\'ada@x.ch","\'Ada"\n', [], id="apostrophes of Auth0"),
    ],
)
def test_tables_are_read_as_spreadsheets_and_exporters_write_them(tmp_path, content, flags):
    made = migrated(tmp_path, "csv", "--users", "users.csv", content, *flags)

    assert (made.code, user_names(made)) == (0, ["ada@x.ch"])


def test_only_an_apostrophe_against_formulas_is_removed(tmp_path):
    content = b"email,phone,lastName,nickName\nada@x.ch,'+41791234567,'t Hooft,'=x\n"

    (person,) = migrated(tmp_path, "csv", "--users", "users.csv", content).people

    assert person["user"]["phone"]["phone"] == "+41791234567"
    assert person["user"]["profile"]["lastName"] == "'t Hooft"
    assert person["user"]["profile"]["nickName"] == "=x"


@pytest.mark.parametrize("changes", [{"email": None}, {"email": ""}])
def test_a_missing_address_is_reported_as_missing_with_the_option(tmp_path, changes):
    content = lines(auth0_user(1, username="ada", **changes))

    made = migrated(tmp_path, "auth0", "--users", "users.json", content)

    (problem,) = made.rows[0]["problems"]
    assert (made.code, made.people) == (3, [])
    assert (problem["slug"], problem["message"]) == ("field.required", "is missing")
    assert "--keep-incomplete" in problem["fix"]
