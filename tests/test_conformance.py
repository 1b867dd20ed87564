"""Every promise of the service has a test, and the page that lists both is up to date."""

from __future__ import annotations

import pytest

from tests.support import conformance

UNKNOWN = {
    f"{test.file}::{test.name}: {promise}"
    for test in conformance.marked_tests()
    for promise in test.promises
    if promise not in conformance.promises()
}


@pytest.mark.parametrize("promise", conformance.promises())
def test_a_promise_has_a_test(promise):
    assert any(promise in test.promises for test in conformance.marked_tests())


def test_a_mark_names_promises_of_the_table():
    assert not UNKNOWN


def test_a_mark_names_a_promise_once():
    tests = conformance.marked_tests()

    assert not [test for test in tests if len(set(test.promises)) != len(test.promises)]
    assert all(test.promises for test in tests)


@pytest.mark.parametrize("section", conformance.sections())
def test_a_section_names_what_it_follows(section):
    content = conformance.sections()[section]

    assert set(content) == {"title", "source", "promises"}
    assert all(content.values())


def test_functions_methods_and_parametrized_tests_carry_promises():
    source = """
@pytest.mark.promise("code: code", "code: response")
@pytest.mark.parametrize("value", [1])
async def test_a(value): ...

class TestOfMany:
    @pytest.mark.promise("code: code")
    def test_b(self): ...

def test_c(): ...
"""

    assert conformance.read_marks("test_x.py", source) == [
        ("test_x.py", "test_a", ("code: code", "code: response")),
        ("test_x.py", "test_b", ("code: code",)),
    ]


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.promise("a: b")\ndef helper(): ...',
        '@pytest.mark.promise("a: b")\nclass TestAll:\n    def test_a(self): ...',
        'class World:\n    @pytest.mark.promise("a: b")\n    def test_a(self): ...',
        'def outer():\n    @pytest.mark.promise("a: b")\n    def test_a(): ...',
        'pytestmark = pytest.mark.promise("a: b")',
        "@pytest.mark.promise\ndef test_a(): ...",
        "@pytest.mark.promise(NAME)\ndef test_a(): ...",
    ],
)
def test_a_mark_that_would_be_overlooked_is_refused(source):
    with pytest.raises(ValueError, match=r"not on a test|malformed"):
        conformance.read_marks("test_x.py", source)


def test_the_page_is_made_from_the_table_and_the_marks():
    assert conformance.PAGE.read_text(encoding="utf-8") == conformance.page()
