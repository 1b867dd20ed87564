"""Parameters of a request: omitted, given once, or an error."""

from __future__ import annotations

import pytest

from idp.oauth.errors import InvalidRequest
from idp.oauth.params import Params


def test_a_parameter_without_a_value_counts_as_omitted():
    params = Params([("empty", ""), ("given", "v")])

    assert (params.get("empty"), params.get("given"), params.get("absent")) == (None, "v", None)
    assert "empty" in params
    assert "absent" not in params


@pytest.mark.parametrize("name", ["empty", "absent"])
def test_a_required_parameter_must_have_a_value(name):
    with pytest.raises(InvalidRequest, match=name):
        Params([("empty", "")]).required(name)


@pytest.mark.parametrize("second", ["v", "", "other"])
def test_a_repeated_parameter_can_not_be_read_at_all(second):
    params = Params([("twice", "v"), ("twice", second)])

    assert params.is_repeated("twice")
    assert params.if_once("twice") is None
    for read in (params.get, params.required):
        with pytest.raises(InvalidRequest, match="twice"):
            read("twice")
    with pytest.raises(InvalidRequest, match="twice"):
        params.refuse_repeated()


def test_only_resource_may_be_repeated():
    Params([("resource", "1"), ("resource", "2"), ("b", "1")]).refuse_repeated()


def test_the_name_of_a_repeated_parameter_is_shown_only_when_it_is_plain():
    with pytest.raises(InvalidRequest) as refused:
        Params([('"\r\n', "1"), ('"\r\n', "2")]).refuse_repeated()

    assert refused.value.description == "a parameter was sent more than once"


def test_names_are_exact():
    params = Params([("State", "1"), ("state ", "2")])

    assert params.get("state") is None


def test_the_pairs_are_all_there():
    sent = [("a", "1"), ("a", "2"), ("b", "")]

    assert Params(sent).pairs() == sent
