"""From Auth0: what its two files become."""

from __future__ import annotations

import json
import stat

import pytest

from tests.support.transfer.migrating import (
    BCRYPT,
    auth0_files,
    auth0_password,
    auth0_user,
    lines,
    migrate,
)

JOHN = {
    "user_id": "auth0|60425dc4",
    "email": "john@example.com",
    "name": "John Doe",
    "username": "johndoe",
    "given_name": "John",
    "family_name": "Doe",
    "nickname": "johnny",
    "locale": "en-US",
    "phone_number": "+1234567890",
    "phone_verified": True,
    "email_verified": False,
}
JOHNS = {
    "userId": "auth0|60425dc4",
    "user": {
        "userName": "johndoe",
        "profile": {
            "firstName": "John",
            "lastName": "Doe",
            "nickName": "johnny",
            "displayName": "John Doe",
            "preferredLanguage": "en",
        },
        "email": {"email": "john@example.com", "isEmailVerified": True},
        "phone": {"phone": "+1234567890", "isPhoneVerified": True},
        "hashedPassword": {"value": BCRYPT},
    },
}


def password(email, **changes):
    return auth0_password(9, email=email, **changes)


@pytest.mark.promise("migration: from Auth0")
def test_the_body_is_the_one_that_the_reference_tool_makes(tmp_path):
    files = auth0_files(tmp_path, lines(JOHN), lines(password("john@example.com")))

    made = migrate(tmp_path, *map(str, files), "--email-verified")

    org = {"orgId": "org-1", "humanUsers": [JOHNS]}
    assert made.code == 0
    assert made.body == {"dataOrgs": {"orgs": [org]}, "timeout": "30m0s"}
    assert made.rows == []


@pytest.mark.parametrize("flags", [[], ["--multiline"], ["--multiline=true"], ["--multiline=0"]])
def test_the_layout_changes_nothing(tmp_path, flags):
    files = auth0_files(tmp_path, lines(*map(auth0_user, range(1, 4))))

    made = migrate(tmp_path, *map(str, files), "--timeout", "1h", *flags)

    text = (tmp_path / "out.json").read_text()
    assert (text.count("\n") > 30) == (flags not in ([], ["--multiline=0"]))
    assert made.body["timeout"] == "1h0m0s"
    assert len(made.people) == 3


def test_nobody_else_may_read_what_is_written(tmp_path):
    migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(auth0_user()))))

    for name in ("out.json", "report.ndjson"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("flags", "verified"),
    [
        ([], [True, False, False]),
        (["--email-verified"], [True, True, True]),
        (["--email-verified=true"], [True, True, True]),
        (["--email-verified=false"], [False, False, False]),
    ],
)
def test_addresses_count_as_verified_as_auth0_says_unless_one_says_otherwise(
    tmp_path, flags, verified
):
    lacking = auth0_user(3)
    del lacking["email_verified"]
    users = lines(auth0_user(1), auth0_user(2, email_verified=False), lacking)

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users)), *flags)

    found = [each["user"]["email"].get("isEmailVerified", False) for each in made.people]
    assert found == verified


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("a@x.ch", "Given1", "Family1")),
        ({"username": "ada"}, ("ada", "Given1", "Family1")),
        ({"given_name": None}, ("a@x.ch", "Given1 Family1", "Family1")),
        ({"given_name": None, "name": None}, ("a@x.ch", "a@x.ch", "Family1")),
        ({"family_name": ""}, ("a@x.ch", "Given1", "Given1 Family1")),
        ({"family_name": "", "name": ""}, ("a@x.ch", "Given1", "a@x.ch")),
    ],
)
def test_what_a_name_lacks_is_taken_from_the_others(tmp_path, changes, expected):
    users = lines(auth0_user(email="a@x.ch", **changes))

    (person,) = migrate(tmp_path, *map(str, auth0_files(tmp_path, users))).people

    profile = person["user"]["profile"]
    assert (person["user"]["userName"], profile["firstName"], profile["lastName"]) == expected


@pytest.mark.parametrize(
    ("locale", "language"),
    [("en-US", "en"), ("de_AT", "de"), ("zh-Hant-TW", "zh"), ("DE", "de"), ("iw", "he")],
)
def test_the_language_is_the_base_of_the_locale(tmp_path, locale, language):
    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(auth0_user(locale=locale)))))

    assert made.people[0]["user"]["profile"]["preferredLanguage"] == language
    assert made.dropped == {}


@pytest.mark.parametrize("locale", ["xx", "elvish-language", "1", "", 7, ["de"]])
def test_a_locale_that_is_no_language_is_left_out_and_reported(tmp_path, locale):
    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(auth0_user(locale=locale)))))

    assert "preferredLanguage" not in made.people[0]["user"]["profile"]
    assert made.dropped == ({"locale": 1} if locale else {})


def test_who_is_blocked_comes_in_inactive(tmp_path):
    users = lines(auth0_user(blocked=True))

    (person,) = migrate(tmp_path, *map(str, auth0_files(tmp_path, users))).people

    assert person["user"]["state"] == "USER_STATE_INACTIVE"


# Passwords


def hashes(made):
    return [each["user"].get("hashedPassword", {}).get("value") for each in made.people]


@pytest.mark.promise("migration: from Auth0")
def test_passwords_find_their_users_in_any_order(tmp_path):
    users = lines(*(auth0_user(n) for n in range(1, 40)))
    passwords = lines(*(auth0_password(n) for n in range(39, 1, -1)))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users, passwords)))

    assert hashes(made) == [None, *[BCRYPT] * 38]


def test_the_address_finds_the_password_whatever_its_case(tmp_path):
    users, passwords = lines(auth0_user(email="A@x.ch")), lines(password("a@X.ch"))

    assert hashes(migrate(tmp_path, *map(str, auth0_files(tmp_path, users, passwords))))[0]


def test_of_two_accounts_with_one_address_each_has_the_password_of_its_own_id(tmp_path):
    other = BCRYPT[:-1] + "u"
    users = lines(*(auth0_user(n, email="a@x.ch", username=f"n{n}") for n in (1, 2)))
    passwords = lines(
        auth0_password(2, other, email="a@x.ch"), auth0_password(1, BCRYPT, email="a@x.ch")
    )

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users, passwords)))

    assert hashes(made) == [BCRYPT, other]
    assert made.error_codes == ["source.address_doubled"]


def test_a_password_of_another_providers_account_is_reported(tmp_path):
    users = lines(auth0_user(user_id="google-oauth2|7", email="a@x.ch"))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users, lines(password("a@x.ch")))))

    assert hashes(made) == [BCRYPT]
    assert made.error_codes == ["source.password_by_address"]


def test_passwords_without_a_user_and_second_ones_are_reported(tmp_path):
    passwords = lines(password("nobody@x.ch"), auth0_password(1), password("user1@example.com"))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(auth0_user(1)), passwords)))

    assert made.code == 0
    assert [(each["path"], each["id"], each["action"]) for each in made.rows] == [
        ("passwords.json:1", "nobody@x.ch", "skip"),
        ("passwords.json:3", "user1@example.com", "skip"),
    ]
    assert made.error_codes == ["source.password_unused", "source.password_doubled"]


def test_a_hash_that_no_one_could_verify_is_left_out_and_reported(tmp_path):
    users, passwords = lines(auth0_user(1)), lines(auth0_password(1, "$nonsense$1"))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users, passwords)))

    assert hashes(made) == [None]
    assert made.rows[0]["action"] == "create"
    assert made.rows[0]["problems"][0]["field"] == "passwordHash"
    assert "$nonsense$1" not in (tmp_path / "report.ndjson").read_text()


def test_without_a_password_file_one_says_so(tmp_path):
    files = list(map(str, auth0_files(tmp_path, lines(auth0_user(1)))))
    (tmp_path / "passwords.json").unlink()

    assert migrate(tmp_path, *files).code == 2
    assert not (tmp_path / "out.json").exists()
    assert migrate(tmp_path, *files, "--no-passwords").code == 0


# What does not go along


def test_fields_of_the_password_file_that_are_dropped_are_named_too(tmp_path):
    more = {"tenant": "acme", "connection": "db", "password_set_date": {"$date": "2020"}}
    passwords = lines(*(auth0_password(n) | more for n in range(2)))
    users = lines(auth0_user(0), auth0_user(1))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users, passwords)))

    assert all(hashes(made))
    names = {*auth0_password(0), *more} - {"_id", "email", "passwordHash"}
    assert made.dropped == {f"passwords.{name}": 2 for name in names}
    assert all(f"dropped passwords.{name}" in made.err for name in more)


@pytest.mark.promise("migration: from Auth0")
def test_every_field_that_is_dropped_is_named_with_its_count(tmp_path):
    first = auth0_user(
        1, last_ip="1.2.3.4", last_login="2024", app_metadata={"plan": "gold"}, logins_count=7
    )
    second = auth0_user(
        2,
        last_ip="1.2.3.4",
        multifactor=["guardian"],
        user_metadata={"colour": "blue", "size": None},
        identities=[{"provider": "auth0", "user_id": f"{2:024x}"}, {"provider": "github"}],
    )
    third = auth0_user(
        3,
        identities=[{"provider": "auth0", "user_id": f"{3:024x}"}],
        last_ip="",
        picture="https://x.example/1",
    )
    files = list(map(str, auth0_files(tmp_path, lines(first, second, third))))

    made = migrate(tmp_path, *files)

    assert made.dropped == {
        "last_ip": 2,
        "last_login": 1,
        "app_metadata.plan": 1,
        "logins_count": 1,
        "multifactor": 1,
        "user_metadata.colour": 1,
        "identities": 1,
    }
    for name in made.dropped:
        assert f"dropped {name}" in made.err


def test_attributes_go_along_as_metadata_where_that_is_wished(tmp_path):
    users = lines(
        auth0_user(1, app_metadata={"plan": "gold", "n": [1, 2]}, user_metadata={"on": False})
    )

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users)), "--keep-attributes")

    id = auth0_user(1)["user_id"]
    assert made.body["dataOrgs"]["orgs"][0]["userMetadata"] == [
        {"id": id, "key": "user_metadata.on", "value": "ZmFsc2U="},
        {"id": id, "key": "app_metadata.plan", "value": "Z29sZA=="},
        {"id": id, "key": "app_metadata.n", "value": "WzEsMl0="},
    ]
    assert made.dropped == {}


# Who is left out


@pytest.mark.parametrize(
    ("changes", "field", "error_code"),
    [
        ({"email": None}, "email", "field.required"),
        ({"email": ""}, "email", "field.required"),
        ({"email": "no address"}, "email", "email.invalid"),
        ({"user_id": ""}, "user_id", "field.required"),
        ({"user_id": 7}, "user_id", "field.wrong_type"),
        ({"user_id": "x" * 201}, "user_id", "field.too_long"),
        ({"user_id": "client:x"}, "user_id", "user.id_reserved"),
        ({"username": ["x"]}, "username", "field.wrong_type"),
        ({"given_name": {"a": 1}}, "given_name", "field.wrong_type"),
        ({"family_name": "x" * 201}, "family_name", "field.too_long"),
        ({"given_name": "a\nb"}, "given_name", "field.characters"),
    ],
)
def test_who_lacks_what_the_import_needs_is_left_out_and_the_others_go_in(
    tmp_path, changes, field, error_code
):
    users = lines(auth0_user(1, **changes), auth0_user(2))

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users)))

    assert made.code == 3
    assert [each["userId"] for each in made.people] == [auth0_user(2)["user_id"]]
    (row,) = made.rows
    assert (row["row"], row["path"], row["action"]) == (1, "users.json:1", "fail")
    assert (field, error_code) in [(each["field"], each["slug"]) for each in row["problems"]]
    assert all(each["fix"] for each in row["problems"])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"phone_number": "0791234567"}, "phone_number"),
        ({"nickname": "x" * 201}, "nickname"),
        ({"picture": "javascript:alert(1)"}, "picture"),
        ({"name": "a\u2028b"}, "name"),
        ({"email_verified": "yes"}, "email_verified"),
    ],
)
def test_what_a_person_can_do_without_is_left_out_where_it_can_not_be_used(
    tmp_path, changes, field
):
    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, lines(auth0_user(1, **changes)))))

    assert made.code == 0
    assert len(made.people) == 1
    assert [each["field"] for each in made.rows[0]["problems"]] == [field]


def test_doubled_ids_and_user_names_are_left_out_and_reported(tmp_path):
    users = lines(
        auth0_user(1),
        auth0_user(1, email="other@x.ch"),
        auth0_user(2, email="USER1@example.com"),
        auth0_user(3, email="user1@example.com", username="third"),
    )

    made = migrate(tmp_path, *map(str, auth0_files(tmp_path, users)))

    assert made.code == 3
    assert [(row["row"], row["action"]) for row in made.rows] == [
        (2, "fail"),
        (3, "fail"),
        (4, "create"),
    ]
    assert made.error_codes == [
        "source.user_doubled",
        "source.name_doubled",
        "source.address_doubled",
        "source.address_doubled",
    ]
    assert json.dumps(made.rows).count("already that of record 1") == 4
