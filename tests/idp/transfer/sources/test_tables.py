"""From tables and lines of JSON."""

from __future__ import annotations

import base64
import json

import pytest

from tests.support.transfer.migrating import BCRYPT, lines, migrate

ADA = {"userName": "ada", "email": {"email": "ada@example.com"}}


def table(tmp_path, text, *flags, encoding="utf-8"):
    (tmp_path / "users.csv").write_bytes(text.encode(encoding))
    return migrate(tmp_path, "csv", "--users", str(tmp_path / "users.csv"), *flags)


@pytest.mark.promise("migration: from tables and lines")
def test_every_column_has_its_field(tmp_path):
    head = "userId,userName,firstName,lastName,nickName,displayName,preferredLanguage,gender,email"
    head += ",isEmailVerified,phone,isPhoneVerified,hashedPassword,passwordChangeRequired,otpCode"
    row = "7,ada,Ada,Byron,Countess,Ada Lovelace,en,GENDER_FEMALE,ada@example.com"
    row += f",true,+41791234567,yes,{BCRYPT},1,JBSWY3DPEHPK3PXP"

    made = table(tmp_path, f"{head},state\n{row},inactive\n")

    assert made.people == [
        {
            "userId": "7",
            "user": {
                "userName": "ada",
                "profile": {
                    "firstName": "Ada",
                    "lastName": "Byron",
                    "nickName": "Countess",
                    "displayName": "Ada Lovelace",
                    "preferredLanguage": "en",
                    "gender": "GENDER_FEMALE",
                },
                "email": {"email": "ada@example.com", "isEmailVerified": True},
                "phone": {"phone": "+41791234567", "isPhoneVerified": True},
                "hashedPassword": {"value": BCRYPT},
                "otpCode": "JBSWY3DPEHPK3PXP",
                "passwordChangeRequired": True,
                "state": "USER_STATE_INACTIVE",
            },
        }
    ]


@pytest.mark.parametrize("head", ["First Name,E-Mail", "first_name,email", "GIVENNAME,mail"])
def test_columns_are_known_by_more_than_one_name(tmp_path, head):
    (person,) = table(tmp_path, f"{head}\nAda,ada@example.com\n").people

    assert person["user"]["profile"]["firstName"] == "Ada"
    assert person["user"]["userName"] == "ada@example.com"


@pytest.mark.parametrize(
    ("text", "flags", "encoding"),
    [
        ("email;name\r\njosé@x.ch;Zoë\r\n", ["--delimiter", ";"], "utf-8-sig"),
        ("email\tname\njosé@x.ch\tZoë\n", ["--delimiter", "tab"], "utf-8"),
        ("email,name\njosé@x.ch,Zoë\n", ["--encoding", "cp1252"], "cp1252"),
        ('email,name\n"josé@x.ch","Zoë"', ["--encoding", "utf-16"], "utf-16"),
    ],
)
def test_tables_of_every_make_are_read(tmp_path, text, flags, encoding):
    made = table(tmp_path, text, *flags, encoding=encoding)

    assert made.people[0]["user"]["email"]["email"] == "josé@x.ch"
    assert made.people[0]["user"]["profile"]["displayName"] == "Zoë"


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(b"{CRYPT}" + BCRYPT.encode()).decode(),
        base64.b64encode(b"{ssha}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3").decode(),
        base64.b64encode(b"{CRYPT}" + BCRYPT.encode() + b"\n").decode(),
        f" {{CRYPT}}{BCRYPT} ",
    ],
)
@pytest.mark.parametrize("column", ["userPassword", "userPassword::"])
def test_a_hash_is_read_as_a_directory_gives_it_out(tmp_path, column, written):
    made = table(tmp_path, f"mail,{column}\nada@x.ch,{written}\n")

    (person,) = made.people
    assert made.code == 0
    assert person["user"]["hashedPassword"]["value"].startswith(("{CRYPT}$2", "{ssha}Dk"))


def test_base64_of_what_is_no_hash_is_refused_as_it_stands(tmp_path):
    made = table(tmp_path, f"mail,userPassword\nada@x.ch,{base64.b64encode(b'{x y').decode()}\n")

    assert made.error_codes == ["password_hash.unreadable"]
    assert "hashedPassword" not in made.people[0]["user"]


def test_a_column_can_be_named_otherwise(tmp_path):
    made = table(
        tmp_path,
        "Adresse,Vorname,Abteilung,Alter\nada@x.ch,Ada,F&E,36\n",
        *("--map", "Adresse=email", "--map", "vorname=profile.firstName"),
        *("--map", "Abteilung=metadata.department", "--keep-attributes"),
    )

    (person,) = made.people
    (entry,) = made.body["dataOrgs"]["orgs"][0]["userMetadata"]
    assert person["user"]["profile"]["firstName"] == "Ada"
    assert (entry["id"], entry["key"]) == (person["userId"], "department")
    assert base64.b64decode(entry["value"]).decode() == "F&E"
    assert made.dropped == {"Alter": 1}


def test_who_has_no_id_gets_the_same_one_every_time_and_another_elsewhere(tmp_path):
    text = "email\nada@x.ch\nbob@x.ch\n"

    once = [each["userId"] for each in table(tmp_path, text).people]
    again = [each["userId"] for each in table(tmp_path, text).people]
    elsewhere = [each["userId"] for each in table(tmp_path, text, "--org", "org-2").people]

    assert once == again
    assert len({*once, *elsewhere}) == 4


@pytest.mark.parametrize(
    ("row", "error_code"),
    [
        ("ada@x.ch", "source.columns"),
        ("ada@x.ch,Ada,more", "source.columns"),
        ('ada@x.ch,"a"b', "source.unreadable"),
        ("no address,Ada", "email.invalid"),
        (f"ada@x.ch,{'x' * (1 << 20)}", "source.too_long"),
        (f"ada@x.ch,{'x' * (1 << 18)}", "source.unreadable"),
        ("ada@x.ch,\udcff", "source.encoding"),
    ],
)
def test_a_line_that_can_not_be_used_is_reported_and_the_others_go_in(tmp_path, row, error_code):
    text = f"email,displayName\nfirst@x.ch,First\n{row}\nlast@x.ch,Last\n"
    (tmp_path / "users.csv").write_bytes(text.encode("utf-8", "surrogateescape"))

    made = migrate(tmp_path, "csv", "--users", str(tmp_path / "users.csv"))

    assert made.code == 3
    assert [each["user"]["userName"] for each in made.people] == ["first@x.ch", "last@x.ch"]
    assert (made.rows[0]["row"], made.rows[0]["path"], made.error_codes) == (
        2,
        "users.csv:3",
        [error_code],
    )


@pytest.mark.parametrize(
    ("text", "flags", "told"),
    [
        ("name\nAda\n", [], "no column is email"),
        ("", [], "is empty"),
        ("email,e-mail\na,b\n", [], "several columns have the field email.email"),
        ("email\na@x.ch\n", ["--map", "mail=email"], "no column mail"),
        ("email\na@x.ch\n", ["--map", "email=address"], "no field address"),
        ("email\na@x.ch\n", ["--map", "email"], "COLUMN=FIELD"),
        ("email\na@x.ch\n", ["--delimiter", ""], "--delimiter"),
        ("email\na@x.ch\n", ["--delimiter", ",,"], "--delimiter"),
        ("email\na@x.ch\n", ["--encoding", "klingon"], "--encoding"),
        ("email\na@x.ch\n", ["--encoding", "zlib"], "--encoding"),
        ("email\na@x.ch\n", ["--timeout", "soon"], "--timeout"),
        ("email\na@x.ch\n", ["--timeout", "1ns"], "--timeout"),
        ("email\na@x.ch\n", ["--org", ""], "--org"),
        ("email\na@x.ch\n", ["--org", "x" * 201], "--org"),
    ],
)
def test_a_command_that_can_not_be_carried_out_writes_nothing(tmp_path, text, flags, told):
    made = table(tmp_path, text, *flags)

    assert made.code == 2
    assert told in made.err
    assert [path.name for path in tmp_path.iterdir()] == ["users.csv"]


def test_a_file_that_can_not_be_written_is_reported_and_the_old_one_stays(tmp_path):
    (tmp_path / "out.json").mkdir()

    made = table(tmp_path, "email\na@x.ch\n")

    assert made.code == 2
    assert "can't be written" in made.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "users.csv"]


# Lines of JSON


def migrated(tmp_path, content, *flags):
    (tmp_path / "users.ndjson").write_bytes(content)
    return migrate(tmp_path, "ndjson", "--users", str(tmp_path / "users.ndjson"), *flags)


@pytest.mark.promise("migration: from tables and lines")
def test_a_line_is_a_person_as_the_import_takes_one(tmp_path):
    person = {
        "userName": "ada",
        "profile": {"firstName": "Ada", "lastName": "Byron", "preferredLanguage": "en"},
        "email": {"email": "ada@example.com", "isEmailVerified": True},
        "hashedPassword": {"value": BCRYPT},
        "passwordChangeRequired": True,
        "otpCode": "JBSWY3DPEHPK3PXP",
        "state": "USER_STATE_INACTIVE",
    }

    made = migrated(tmp_path, lines({"userId": "7", **person}, {"userId": "8", "user": person}))

    assert made.people[0] == {"userId": "7", "user": person}
    assert made.rows[0]["id"] == "8"
    assert made.error_codes == ["source.name_doubled", "source.address_doubled"]


def test_what_is_not_known_is_dropped_and_named(tmp_path):
    profile = {"firstName": "A", "lastName": "B", "age": 7}
    line = {**ADA, "profile": profile, "roles": ["x"], "state": "dead", "phone": "+41"}

    made = migrated(tmp_path, lines(line))

    assert made.dropped == {"profile.age": 1, "roles": 1, "state": 1, "phone": 1}


def test_entries_of_metadata_go_along_where_that_is_wished(tmp_path):
    profile = {"firstName": "A", "lastName": "B"}
    line = {**ADA, "profile": profile, "metadata": [{"key": "k", "value": "dg=="}, 7]}

    kept = migrated(tmp_path, lines(line), "--keep-attributes")

    assert kept.body["dataOrgs"]["orgs"][0]["userMetadata"][0]["value"] == "dg=="
    assert migrated(tmp_path, lines(line)).dropped == {"k": 1}


def test_who_lacks_a_name_is_left_out(tmp_path):
    made = migrated(tmp_path, lines(ADA))

    assert made.code == 3
    assert [each["field"] for each in made.rows[0]["problems"]] == [
        "profile.firstName",
        "profile.lastName",
    ]


def test_an_array_is_read_as_its_elements(tmp_path):
    people = [
        {**ADA, "userName": f"a{n}", "profile": {"firstName": "A", "lastName": "B"}}
        for n in range(3)
    ]

    assert len(migrated(tmp_path, json.dumps(people).encode()).people) == 3
