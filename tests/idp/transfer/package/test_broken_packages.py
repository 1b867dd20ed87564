"""What is no package is refused before anything is stored; a broken row is broken alone."""

from __future__ import annotations

import gzip
import json

import pytest

from idp.transfer.package import json_stream
from tests.support.transfer.packing import of, refusal, rows, with_row

# Rows that can't be read

LARGE = 300_000  # what a value may have here
DEEP = json_stream.MAX_DEPTH + 1
BROKEN = {
    '{"a":1,"a":2}': "json.duplicate",
    '{"a":{"b":1,"\\u0062":2}}': "json.duplicate",
    '{"a":NaN}': "json.number",
    '{"a":[-Infinity]}': "json.number",
    "NaN": "json.number",
    '{"a":1e400}': "json.number",
    '{"a":9223372036854775808}': "json.number",
    '{"a":' + "9" * 5000 + "}": "json.number",
    '{"a":"\\ud800"}': "json.characters",
    '{"a":"\\ud800\\u0041"}': "json.characters",
    '{"a":"\\udc00\\ud800"}': "json.characters",
    '{"\\udfff":1}': "json.characters",
    '{"a":"\\u0000"}': "json.characters",
    "[" * DEEP + "]" * DEEP: "json.too_deep",
    '{"a":' * DEEP + "1" + "}" * DEEP: "json.too_deep",
    '{"a":"\\"[{",' + '"b":' + "[" * 100_000 + '"]\\\\"' + "]" * 100_000 + "}": "json.too_deep",
    '{"a":"' + "x" * LARGE + '"}': "json.too_large",
    '{"a":"' + '\\"' * LARGE + '"}': "json.too_large",
    '{"' + "x" * LARGE + '":1}': "json.too_large",
    "[" + "1," * LARGE + "1]": "json.too_large",
    "1" * 2 * LARGE: "json.too_large",
    '"' + "\\\\" * 2 * LARGE + '"': "json.too_large",
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:20])
def test_a_row_that_breaks_a_rule_is_broken_alone(open_package, text, monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_VALUE", LARGE)
    package = open_package(with_row(text))

    first, broken, last = rows(package)
    assert [first.document, last.document] == [{"userId": "1"}, {"userId": "3"}]
    assert (first.broken, last.broken) == ((), ())
    assert broken.document is None
    assert [problem.error_code for problem in broken.broken] == [BROKEN[text]]
    assert all(problem.is_error and problem.fix for problem in broken.broken)


def test_a_broken_row_is_reported_by_those_of_its_texts_that_are_beyond_doubt(open_package):
    text = (
        '{"userId":"u","user_id":"v","a":"1","a":"1","b":"\\u0000","\\ud800":"c","n":NaN,'
        '"user":{"userName":"d"},"e":["f"]}'
    )
    _, broken, _ = rows(open_package(with_row(text)))

    assert len(broken.broken) == 4
    assert broken.document == {"userId": "u", "user_id": "v"}


def test_of_a_row_with_many_mistakes_some_are_reported(open_package):
    _, broken, _ = rows(open_package(with_row(f"[{'NaN,' * 5_000}1]")))

    assert [problem.field for problem in broken.broken] == [f"[{n}]" for n in range(10)]


@pytest.mark.parametrize("most", [1, 7])
def test_numbers_are_whole_wherever_the_slices_end(open_package, most):
    numbers = "[1,12.5,-1.5e+7,1E5,0,-0.25,123456789012345]"
    package = open_package(f'{{"orgs":[{{"orgId":"o","humanUsers":{numbers}}}]}}', most)

    assert [row.document for row in rows(package)] == json.loads(numbers)


@pytest.mark.parametrize(
    ("org_id", "error_code"),
    [
        ("", "field.required"),
        ('"orgId":7,', "field.wrong_type"),
        ('"orgId":null,', "field.wrong_type"),
        ('"orgId":"",', "field.empty"),
        (f'"orgId":"{"x" * 201}",', "field.too_long"),
        ('"orgId":"a\\n",', "field.characters"),
        ('"orgId":"\\ud800",', "json.characters"),
    ],
)
def test_rows_of_an_organization_without_an_id_are_broken_with_it(
    open_package, org_id, error_code
):
    package = open_package(f'{{"orgs":[{{{org_id}"humanUsers":[{{}}]}},{{"orgId":"o"}}]}}')

    user, organization = rows(package)
    assert (user.path, organization.path) == ("orgs[0].humanUsers[0]", "orgs[0]")
    assert user.broken == organization.broken
    assert user.broken[0].error_code == error_code


@pytest.mark.parametrize(
    ("orgs", "path", "error_code"),
    [
        ([7], "orgs[0]", "field.wrong_type"),
        ([{"orgId": "o", "humanUsers": {}}], "orgs[0].humanUsers", "field.wrong_type"),
        ([{"orgId": "o", "humanUsers": 1}], "orgs[0].humanUsers", "field.wrong_type"),
    ],
)
def test_a_value_of_a_wrong_type_is_reported_by_its_place(open_package, orgs, path, error_code):
    (row,) = rows(open_package(of(*orgs)))

    assert (row.path, row.broken[0].error_code, row.broken[0].is_error) == (path, error_code, True)


def test_of_lists_that_nobody_knows_each_is_a_row(open_package):
    package = open_package(of({"orgId": "o", "foo": [1] * 3, "bar": "x" * 5_000_000}))

    assert [(row.member, row.path, row.document, row.broken) for row in rows(package)] == [
        ("foo", "orgs[0].foo", None, ()),
        ("bar", "orgs[0].bar", None, ()),
    ]


# What is no package

WHOLE = json.dumps(of({"orgId": "o", "humanUsers": [{"userId": "ü"}]}), ensure_ascii=False)
NO_PACKAGE = {
    "nothing": (b"", "json.malformed"),
    "spaces": (b" \n" * 300_000, "json.malformed"),
    "a list": (b"[]", "json.malformed"),
    "an empty object": (b"{}", "package.no_organizations"),
    "only a timeout": (b'{"timeout":"1m"}', "package.no_organizations"),
    "null": (b'{"dataOrgs":null}', "package.no_organizations"),
    "gzip": (gzip.compress(WHOLE.encode()), "package.encoding"),
    "zip": (b"PK\x03\x04....", "package.encoding"),
    "UTF-16": (WHOLE.encode("utf-16"), "package.encoding"),
    "UTF-16 without a mark": (WHOLE.replace("ü", "u").encode("utf-16-le"), "json.malformed"),
    "a byte order mark": (b"\xef\xbb\xbf" + WHOLE.encode(), "package.encoding"),
    "Latin 1": (WHOLE.encode("latin-1"), "package.encoding"),
    "half of a character": (
        WHOLE.encode()[: WHOLE.encode().index(b"\xc3") + 1],
        "package.encoding",
    ),
    "two packages": (WHOLE.encode() * 2, "json.malformed"),
    "lines of packages": (f"{WHOLE}\n{WHOLE}".encode(), "json.malformed"),
    "garbage behind it": (WHOLE.encode() + b" x", "json.malformed"),
    "NUL behind it": (WHOLE.encode() + b"\0", "json.malformed"),
    "two envelopes": (b'{"dataOrgs":{"orgs":[]},"data_orgsv1":{"orgs":[]}}', "field.conflict"),
    "an envelope twice": (b'{"orgs":[],"orgs":[]}', "json.duplicate"),
    "a timeout twice": (b'{"timeout":"1m","timeout":"2m","orgs":[]}', "json.duplicate"),
    "a list twice": (
        b'{"orgs":[{"orgId":"o","humanUsers":[],"humanUsers":[]}]}',
        "json.duplicate",
    ),
    "a list under both names": (
        b'{"orgs":[{"orgId":"o","humanUsers":[],"human_users":[]}]}',
        "json.duplicate",
    ),
    "no list": (b'{"dataOrgs":{}}', "field.required"),
    "no list of organizations": (b'{"dataOrgs":{"orgs":{}}}', "field.wrong_type"),
    "more in the envelope": (b'{"dataOrgs":{"orgs":[],"x":1}}', "field.unknown"),
    "a number": (b'{"dataOrgs":5}', "json.malformed"),
    "a word that is none": (b'{"dataOrgs":nil}', "json.malformed"),
    "an empty string": (b'{"data_orgsv1":""}', "json.malformed"),
    "a string with more": (b'{"data_orgsv1":"{\\"orgs\\":[]} 1"}', "json.malformed"),
    "a string that is cut off": (b'{"data_orgsv1":"{\\"orgs\\":[]}', "json.malformed"),
    "a string with half of a character": (b'{"data_orgsv1":"\\ud800"}', "json.characters"),
    "a string with a bad escape": (b'{"data_orgsv1":"{\\x                }"}', "json.malformed"),
    "a string over two lines": (b'{"data_orgsv1":"{\n                 }"}', "json.malformed"),
    "NaN beside it": (b'{"timeout":NaN,"orgs":[]}', "json.number"),
    "too much beside it": (b'{"x":"' + b"x" * 70_000 + b'","orgs":[]}', "json.too_large"),
    "a huge name": (b'{"' + b"x" * 5_000_000 + b'":1,"orgs":[]}', "json.too_large"),
    "many names": (
        json.dumps({str(n): 0 for n in range(1001)} | {"orgs": []}).encode(),
        "json.malformed",
    ),
    "a row that is no JSON": (with_row('{"a" 1}').encode(), "json.malformed"),
    "a word in a row": (with_row('{"a":nul}').encode(), "json.malformed"),
    "a line break in a text": (with_row('{"a":"\n"}').encode(), "json.malformed"),
    "a comma too many": (with_row('{"a":1},').encode(), "json.malformed"),
    "brackets without end": (b'{"orgs":[{"humanUsers":[' + b"[" * 1_000_000, "json.malformed"),
    "a string without end": (b'{"orgs":[{"humanUsers":["' + b"x" * 9_000_000, "json.malformed"),
}


@pytest.mark.parametrize("name", NO_PACKAGE)
def test_what_is_no_package_is_refused_as_a_whole(open_package, name):
    octets, error_code = NO_PACKAGE[name]

    for most in (3, 1 << 30) if len(octets) < 10_000 else (1 << 30,):
        refused = refusal(open_package, octets, most)

        assert (refused.error_code, refused.problems[0].error_code) == (error_code, error_code)
        assert refused.message.startswith("the package ") == (not refused.problems[0].field)


def test_a_package_that_is_cut_off_anywhere_is_refused(open_package):
    octets = json.dumps({"timeout": "1m"} | of({"orgId": "o", "humanUsers": [1, {"a": "ü"}]}))

    for end in range(len(octets)):
        assert refusal(open_package, octets[:end]).error_code == "json.malformed"


def test_no_more_organizations_than_can_be_counted(open_package, monkeypatch):
    monkeypatch.setattr("idp.transfer.package.reader.MAX_ORGANIZATIONS", 3)

    assert open_package({"orgs": [{"orgId": "o"}] * 3}).total == 0
    assert refusal(open_package, {"orgs": [{"orgId": "o"}] * 4}).error_code == "field.too_many"
