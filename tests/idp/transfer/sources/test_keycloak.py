"""From Keycloak: what a realm export becomes."""

from __future__ import annotations

import base64
import json

import argon2
import pytest

from idp.transfer.sources.keycloak_credentials import encoded, otp_secret
from tests.support.transfer.migrating import (
    argon2_credential,
    credential,
    keycloak_user,
    migrate,
    pbkdf2_credential,
    realm,
    totp_credential,
)

SALT, VALUE = b"0123456789abcdef", bytes(range(32))


def migrated(tmp_path, *users, flags=(), **changes):
    (tmp_path / "realm.json").write_bytes(realm(*users, **changes))
    return migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "realm.json"), *flags)


@pytest.mark.promise("migration: from Keycloak")
def test_a_person_comes_with_name_address_and_password(tmp_path):
    user = keycloak_user(1, credentials=[argon2_credential(SALT, VALUE)])

    made = migrated(tmp_path, user)

    salt, value = (base64.b64encode(each).decode().rstrip("=") for each in (SALT, VALUE))
    assert made.code == 0
    assert made.people == [
        {
            "userId": user["id"],
            "user": {
                "userName": "user1",
                "profile": {"firstName": "Given1", "lastName": "Family1"},
                "email": {"email": "user1@example.com", "isEmailVerified": True},
                "hashedPassword": {"value": f"$argon2id$v=19$m=7168,t=5,p=1${salt}${value}"},
            },
        }
    ]


def test_the_converted_argon2_hash_verifies_the_password():
    """argon2-cffi is the oracle: the same parameters, in Keycloak's form and back."""
    hasher = argon2.PasswordHasher(time_cost=5, memory_cost=7168, parallelism=1)
    *_, salt, value = hasher.hash("hunter2 hunter2").split("$")
    unpacked = [base64.b64decode(each + "=" * (-len(each) % 4)) for each in (salt, value)]

    assert hasher.verify(encoded(argon2_credential(*unpacked)), "hunter2 hunter2")


@pytest.mark.promise("migration: from Keycloak")
@pytest.mark.parametrize(
    "algorithm",
    ["pbkdf2", "pbkdf2-sha224", "pbkdf2-sha256", "pbkdf2-sha384", "pbkdf2-sha512"],
)
def test_pbkdf2_is_written_as_the_reference_tool_does(algorithm):
    salt, value = (base64.b64encode(each).decode() for each in (SALT, VALUE))

    found = encoded(pbkdf2_credential(SALT, VALUE, 27500, algorithm))

    assert found == f"${algorithm}$27500${salt}${value}"


@pytest.mark.parametrize(
    ("data", "secret", "message"),
    [
        ("no JSON", {"value": "eA==", "salt": "eA=="}, "not JSON"),
        ({"algorithm": "bcrypt", "hashIterations": 5}, None, "bcrypt"),
        ({"algorithm": {}, "hashIterations": 5}, None, "?"),
        ({"algorithm": "pbkdf2", "hashIterations": -5}, None, "hashIterations"),
        ({"algorithm": "pbkdf2", "hashIterations": True}, None, "hashIterations"),
        ({"algorithm": "pbkdf2"}, None, "hashIterations"),
        ({"algorithm": "argon2", "hashIterations": 5}, None, "memory"),
        (
            {
                "algorithm": "argon2",
                "hashIterations": 5,
                "additionalParameters": {"type": ["x"], "memory": ["1"], "parallelism": ["1"]},
            },
            None,
            "kind",
        ),
        ({"algorithm": "pbkdf2", "hashIterations": 5}, {}, "value and salt"),
        ({"algorithm": "pbkdf2", "hashIterations": 5}, [], "secretData"),
        (None, {}, "credentialData"),
    ],
)
def test_a_password_that_can_not_be_carried_over_is_reported_and_the_person_goes_in(
    tmp_path, data, secret, message
):
    held = {"value": "eA==", "salt": "eA=="} if secret is None else secret
    broken = credential("password", {}, {}) | {
        "credentialData": data if isinstance(data, str) else json.dumps(data),
        "secretData": json.dumps(held),
    }

    made = migrated(tmp_path, keycloak_user(1, credentials=[broken]))

    assert made.code == 0
    assert "hashedPassword" not in made.people[0]["user"]
    (problem,) = made.rows[0]["problems"]
    assert (problem["slug"], problem["field"]) == ("source.password", "credentials.password")
    assert message in problem["message"]
    assert made.dropped["credentials.password"] == 1


def test_the_first_password_counts(tmp_path):
    first = pbkdf2_credential(SALT, VALUE, 27500, "pbkdf2-sha256")
    second = argon2_credential(SALT, VALUE)

    made = migrated(tmp_path, keycloak_user(1, credentials=[second, first]))

    assert made.people[0]["user"]["hashedPassword"]["value"].startswith("$argon2id$")
    assert made.dropped["credentials.password"] == 1


# Second factors


def test_an_authenticator_app_goes_along(tmp_path):
    secret = "xnqNbYLqaeVlOZtzUAJh"

    made = migrated(tmp_path, keycloak_user(1, totp=True, credentials=[totp_credential(secret)]))

    code = made.people[0]["user"]["otpCode"]
    assert base64.b32decode(code + "=" * (-len(code) % 8)) == secret.encode()
    assert "credentials.otp" not in made.dropped


@pytest.mark.parametrize("name", ["BASE32", "B32"])
def test_a_secret_in_base32_stays_as_it_is(name):
    assert otp_secret(totp_credential("JBSWY3DPEHPK3PXP", secretEncoding=name)) == (
        "JBSWY3DPEHPK3PXP"
    )


@pytest.mark.parametrize(
    "changes",
    [{"subType": "hotp"}, {"digits": 8}, {"period": 60}, {"algorithm": "HmacSHA256"}],
)
def test_an_app_of_another_kind_is_reported(tmp_path, changes):
    made = migrated(tmp_path, keycloak_user(1, credentials=[totp_credential("x" * 20, **changes)]))

    assert "otpCode" not in made.people[0]["user"]
    assert made.error_codes == ["source.factor"]
    assert made.dropped["credentials.otp"] == 1


@pytest.mark.parametrize("kind", ["webauthn", "webauthn-passwordless", "recovery-authn-codes"])
def test_other_credentials_are_reported_for_each_user(tmp_path, kind):
    made = migrated(tmp_path, keycloak_user(1, credentials=[credential(kind, {}, {})]))

    assert made.rows[0]["problems"][0]["field"] == f"credentials.{kind}"
    assert made.dropped[f"credentials.{kind}"] == 1


# What a person is


def test_who_is_disabled_comes_in_inactive(tmp_path):
    made = migrated(tmp_path, keycloak_user(1, enabled=False), keycloak_user(2))

    assert [each["user"].get("state") for each in made.people] == ["USER_STATE_INACTIVE", None]


@pytest.mark.parametrize("changes", [{"requiredActions": ["UPDATE_PASSWORD"]}, {}])
def test_who_was_to_choose_a_new_password_still_has_to(tmp_path, changes):
    held = argon2_credential(SALT, VALUE, temporary=not changes)

    made = migrated(tmp_path, keycloak_user(1, credentials=[held], **changes))

    assert made.people[0]["user"]["passwordChangeRequired"] is True


def test_an_address_that_was_to_be_confirmed_still_has_to(tmp_path):
    user = keycloak_user(1, emailVerified=False, requiredActions=["VERIFY_EMAIL"])

    made = migrated(tmp_path, user)

    assert made.people[0]["user"]["email"] == {"email": "user1@example.com"}
    assert not [name for name in made.dropped if name.startswith("required")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"firstName": ""}, ("user1", "Family1", "Family1")),
        ({"lastName": None}, ("Given1", "user1", "Given1")),
        ({"firstName": "", "lastName": ""}, ("user1", "user1", "user1")),
    ],
)
def test_what_a_name_lacks_is_the_user_name(tmp_path, changes, expected):
    profile = migrated(tmp_path, keycloak_user(1, **changes)).people[0]["user"]["profile"]

    assert (profile["firstName"], profile["lastName"], profile["displayName"]) == expected


def test_the_language_is_the_attribute_that_keycloak_keeps_it_in(tmp_path):
    made = migrated(tmp_path, keycloak_user(1, attributes={"locale": ["pt-BR"]}))

    assert made.people[0]["user"]["profile"]["preferredLanguage"] == "pt-BR"
    assert "attributes.locale" not in made.dropped


def test_the_account_of_a_client_is_no_person(tmp_path):
    made = migrated(tmp_path, keycloak_user(1, serviceAccountClientId="shop"), keycloak_user(2))

    assert len(made.people) == 1
    assert (made.rows[0]["action"], made.error_codes) == ("skip", ["source.service_account"])


def test_who_has_no_address_is_left_out(tmp_path):
    user = keycloak_user(1)
    del user["email"]

    made = migrated(tmp_path, user, keycloak_user(2))

    assert made.code == 3
    assert len(made.people) == 1
    assert made.rows[0]["problems"][0]["field"] == "email"


def test_who_has_no_address_goes_along_where_that_is_wished(tmp_path):
    user = keycloak_user(1, email="", emailVerified=False)

    made = migrated(tmp_path, user, keycloak_user(2), flags=["--keep-incomplete"])

    assert made.code == 0
    assert made.people[0]["user"] == {
        "userName": "user1",
        "profile": {"firstName": "Given1", "lastName": "Family1"},
        "incomplete": True,
    }
    assert "incomplete" not in made.people[1]["user"]


# What does not go along


@pytest.mark.promise("migration: from Keycloak")
def test_every_field_that_is_dropped_is_named_with_its_count(tmp_path):
    user = keycloak_user(
        1,
        notBefore=1700000000,
        groups=["/staff"],
        realmRoles=["default-roles-acme", "editor", "author"],
        clientRoles={"shop": ["buyer"]},
        attributes={"department": ["R&D"], "tags": ["a", "b"]},
        federatedIdentities=[{"identityProvider": "github", "userId": "7"}],
        federationLink="ldap",
        requiredActions=["CONFIGURE_TOTP", "TERMS_AND_CONDITIONS"],
        clientConsents=[{"clientId": "shop"}],
    )

    made = migrated(tmp_path, user, keycloak_user(2))

    assert made.dropped == {
        "createdTimestamp": 2,
        "notBefore": 1,
        "groups": 1,
        "realmRoles": 2,
        "clientRoles": 1,
        "attributes.department": 1,
        "attributes.tags": 1,
        "federatedIdentities": 1,
        "federationLink": 1,
        "requiredActions.CONFIGURE_TOTP": 1,
        "requiredActions.TERMS_AND_CONDITIONS": 1,
        "clientConsents": 1,
        "realm: roles": 1,
        "realm: groups": 2,
        "realm: requiredCredentials": 1,
        "realm: clients": 1,
    }


def test_attributes_and_roles_go_along_where_that_is_wished(tmp_path):
    users = [
        keycloak_user(1, realmRoles=["default-roles-acme", "editor"], attributes={"a": ["1"]}),
        keycloak_user(2, realmRoles=["editor", "author"], attributes={"b": ["1", "2"]}),
    ]

    made = migrated(tmp_path, *users, flags=["--keep-attributes", "--roles-project", "p1"])

    first, second = (user["id"] for user in users)
    org = made.body["dataOrgs"]["orgs"][0]
    assert org["userMetadata"] == [
        {"id": first, "key": "attributes.a", "value": "MQ=="},
        {"id": second, "key": "attributes.b", "value": "WyIxIiwiMiJd"},
    ]
    assert [each["roleKey"] for each in org["projectRoles"]] == ["editor", "author"]
    assert org["userGrants"] == [
        {"userId": first, "projectId": "p1", "roleKeys": ["editor"]},
        {"userId": second, "projectId": "p1", "roleKeys": ["editor", "author"]},
    ]
    assert "realmRoles" not in made.dropped


# The files


def parts(folder, name, count, size=50):
    (folder / f"{name}-realm.json").write_bytes(realm(realm=name))
    for part in range(count):
        numbers = range(part * size + 1, part * size + size + 1)
        document = {"realm": name, "users": [keycloak_user(n) for n in numbers]}
        (folder / f"{name}-users-{part}.json").write_text(json.dumps(document, indent=2))


def test_a_folder_with_users_in_files_of_fifty_is_read_in_their_order(tmp_path):
    (tmp_path / "export").mkdir()
    parts(tmp_path / "export", "acme", 11)

    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "export"))

    assert [each["user"]["userName"] for each in made.people] == [
        f"user{n}" for n in range(1, 551)
    ]


def test_of_several_realms_one_is_chosen(tmp_path):
    parts(tmp_path, "acme", 1, 2)
    parts(tmp_path, "beta", 1, 3)
    command = ["keycloak", "--realm", str(tmp_path)]

    unsaid = migrate(tmp_path, *command)

    assert unsaid.code == 2
    assert "--realm-name acme or beta" in unsaid.err
    assert len(migrate(tmp_path, *command, "--realm-name", "beta").people) == 3
    assert migrate(tmp_path, *command, "--realm-name", "gamma").code == 2


def test_users_of_another_store_are_reported(tmp_path):
    parts(tmp_path, "acme", 1, 2)
    (tmp_path / "acme-federated-users-0.json").write_text("{}")

    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path))

    assert made.error_codes == ["source.federated"]
    assert made.dropped["federatedUsers"] == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[]", "it has no realm"),
        (b"", "is empty"),
        (b'"x"', "not a JSON object"),
        (b"{x", "not JSON"),
        (b'{"realm": "acme", "id', "not JSON"),
        (b'\xff\xfe{\x00"\x00', "not JSON"),
        (b"\xff\xfe{\x00\x00\xd8x\x00", "save it in UTF-8"),
        (b"\x1f\x8b\x08\x00", "unpack"),
        (b'{"user_id": "auth0|1"}\n{"user_id": "auth0|2"}', "line 2 is after its end"),
        (b'{"realm": "acme", "users": []} {}', "is after its end"),
        (b'{"realm": "acme", "clients": []}', "no list of users"),
        (b'{"realm": "acme", "users": 5}', "no list of users"),
    ],
)
def test_what_is_no_realm_is_refused_and_nothing_is_written(tmp_path, content, told):
    (tmp_path / "realm.json").write_bytes(content)

    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "realm.json"))

    assert made.code == 2
    assert told in made.err
    assert made.body is None
    assert [path.name for path in tmp_path.iterdir()] == ["realm.json"]


def test_a_missing_file_is_refused(tmp_path):
    made = migrate(tmp_path, "keycloak", "--realm", str(tmp_path / "none.json"))

    assert made.code == 2
    assert "can't be read" in made.err
