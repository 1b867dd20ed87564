"""Packages are read whole and to the letter, row by row, whatever their size and shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.transfer.package import duplicates, spool
from idp.transfer.package import format as package_format
from tests.support.transfer.packing import KINDS, Trickle, of, rows

# What is in it


def test_rows_come_in_the_order_in_which_they_are_stored_with_their_places(open_package):
    package = open_package(
        of(
            {"userGrants": [{"a": 1}], "humanUsers": [{"b": 1}, {"b": 2}], "orgId": "one"},
            {"orgId": "two", "humanUsers": [{"b": 3}], "domainPolicy": {"c": 1}},
        )
    )

    assert package.counts == {"domainPolicy": 1, "humanUsers": 3, "userGrants": 1}
    assert package.total == 5
    assert [(row.number, row.path, row.org_id, row.document) for row in rows(package)] == [
        (1, "orgs[1].domainPolicy", "two", {"c": 1}),
        (2, "orgs[0].humanUsers[0]", "one", {"b": 1}),
        (3, "orgs[0].humanUsers[1]", "one", {"b": 2}),
        (4, "orgs[1].humanUsers[0]", "two", {"b": 3}),
        (5, "orgs[0].userGrants[0]", "one", {"a": 1}),
    ]
    assert [row.member for row in rows(package)][:2] == ["domainPolicy", "humanUsers"]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_package_resumed_in_the_middle_gives_the_remaining_rows(open_package, size, monkeypatch):
    monkeypatch.setattr(spool, "_ROWS_PER_OFFSET", 4)
    users = [{"userId": str(n)} for n in range(11)]
    package = open_package(of({"orgId": "o", "humanUsers": users, "userGrants": [{}, {}]}))
    everything = rows(package)

    for skip in range(package.total + 2):
        batches = list(package.batches(skip, size))

        assert [row for batch in batches for row in batch] == everything[skip:]
        assert all(len(batch) <= size for batch in batches)
        assert all(len({row.member for row in batch}) == 1 for batch in batches)


@pytest.mark.parametrize("skip", range(6))
def test_a_row_of_a_record_that_an_earlier_row_has_says_so(open_package, skip):
    users = [{"userId": "a"}, {"user_id": "b"}, {}, {"userId": 1}, {"userId": "a"}, {}]
    others = [{"userId": "b"}, {"userId": 1}, {"userId": "a"}]
    package = open_package(
        of(
            {"orgId": "o", "machineUsers": [{"userId": "a"}], "humanUsers": users},
            {"orgId": "p", "humanUsers": others},
        )
    )
    found = [row for batch in package.batches(skip, 2) for row in batch]
    first = next(row.number for row in rows(package) if row.member == "humanUsers")

    firsts = {row.number - first: row.duplicate_of - first for row in found if row.duplicate_of}
    assert firsts == {place: of for place, of in {4: 0, 6: 1, 8: 0}.items() if place >= skip}


@pytest.mark.parametrize("held", [1, 7, 1000])
def test_doubles_are_found_however_few_can_be_held_at_once(open_package, monkeypatch, held):
    monkeypatch.setattr(duplicates, "_PARTITION_HASHES", held)
    monkeypatch.setattr(duplicates, "_CHUNK_HASHES", 3)
    ids = [n % 17 for n in range(40)]
    users = [{"userId": f"u{n}"} if n else {} for n in ids]
    found = rows(open_package(of({"orgId": "o", "humanUsers": users})))

    assert [row.duplicate_of for row in found] == [
        1 + ids.index(n) if n and ids.index(n) < place else None for place, n in enumerate(ids)
    ]


def test_entries_of_one_person_are_distinguished_by_their_keys(open_package):
    entries = [("a", "b_c"), ("a_b", "c"), ("a", "c"), ("a", "b_c")]
    document = {"orgId": "o", "userMetadata": [{"id": id, "key": key} for id, key in entries]}

    assert [row.duplicate_of for row in rows(open_package(of(document)))] == [None, None, None, 1]


def test_a_batch_of_large_rows_is_a_short_one(open_package):
    users = [{"about": "x" * 1_500_000} for _ in range(5)]
    package = open_package(of({"orgId": "o", "humanUsers": users}))

    assert [len(batch) for batch in package.batches(0, 500)] == [2, 2, 1]


ENVELOPES = {
    "dataOrgs": lambda data: {"dataOrgs": data},
    "data_orgs": lambda data: {"data_orgs": data},
    "dataOrgsv1": lambda data: {"dataOrgsv1": data},
    "data_orgsv1": lambda data: {"data_orgsv1": data},
    "a string": lambda data: {"data_orgsv1": json.dumps(data)},
    "a string in the other style": lambda data: {"dataOrgsv1": json.dumps(data)},
    "an export": lambda data: data,
    "null beside it": lambda data: {"dataOrgs": None, "dataOrgsv1": data, "data_orgs": None},
}


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_every_envelope_is_opened(open_package, envelope):
    data = {"orgs": [{"orgId": "ö\U0001f600", "humanUsers": [{"userName": 'a"\\\n\u2028ü'}]}]}

    for most in (1, 5, 1 << 30):
        package = open_package({"timeout": "30m", **ENVELOPES[envelope](data), "x": [1]}, most)

        assert package.envelope_options == {"timeout": "30m", "x": [1]}
        (row,) = rows(package)
        assert (row.org_id, row.document) == ("ö\U0001f600", {"userName": 'a"\\\n\u2028ü'})


def test_names_are_taken_in_both_styles_and_the_older_ones(open_package):
    package = open_package(
        {"dataOrgs": {"orgs": [{"org_id": "o", "human_users": [{}], "iamPolicy": {"a": 1}}]}}
    )

    assert [(row.member, row.path, row.broken) for row in rows(package)] == [
        ("domainPolicy", "orgs[0].domainPolicy", ()),
        ("humanUsers", "orgs[0].humanUsers[0]", ()),
    ]


def test_null_is_as_good_as_nothing(open_package):
    package = open_package(of(None, {"orgId": "o", "humanUsers": None, "domainPolicy": None}))

    assert package.total == 0


def test_the_place_of_a_package_in_a_bucket_is_read_beside_it(open_package):
    place = {"bucket": "b", "path": "p", "serviceaccount_json": "e30="}

    assert open_package({"data_orgsv1_gcs": place}).envelope_options == {"data_orgsv1_gcs": place}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "ü", "\u2028", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)
MEMBERS = {
    "domainPolicy": JSON.filter(lambda value: value is not None),
    "human_users": st.lists(JSON, max_size=4),
    "userGrants": st.lists(JSON, max_size=2),
    "orgId": st.text("oö\U0001f600", min_size=1, max_size=3),
}


@st.composite
def organizations(draw):
    names = draw(st.permutations(sorted(MEMBERS)))
    names = [name for name in names if name == "orgId" or draw(st.booleans())]
    return {name: draw(MEMBERS[name]) for name in names}


@pytest.mark.full
@settings(deadline=None)
@given(
    orgs=st.lists(organizations(), max_size=3),
    envelope=st.sampled_from(sorted(ENVELOPES)),
    most=st.sampled_from([1, 3, 64, 1 << 20]),
    is_ascii=st.booleans(),
    indent=st.sampled_from([None, 0, "\t"]),
)
def test_whatever_is_packed_is_read(tmp_path_factory, orgs, envelope, most, is_ascii, indent):
    document = ENVELOPES[envelope]({"orgs": orgs})
    octets = json.dumps(document, ensure_ascii=is_ascii, indent=indent).encode()

    package = package_format.read_package(
        Trickle(octets, most), tmp_path_factory.mktemp("p"), KINDS
    )

    read = [(row.org_id, row.document, row.broken) for row in rows(package)]
    expected = [(org["orgId"], org["domainPolicy"], ()) for org in orgs if "domainPolicy" in org]
    for member in ("human_users", "userGrants"):
        expected += [(org["orgId"], each, ()) for org in orgs for each in org.get(member, [])]
    assert json.dumps(read) == json.dumps(expected)
