from __future__ import annotations

import pytest

from idp.foundation.errors import Busy, ConfigError, IdpError, NotFound


@pytest.mark.parametrize(
    ("error", "slug"),
    [
        (IdpError("m"), "internal"),
        (NotFound("m"), "not_found"),
        (NotFound("m", slug="user.not_found"), "user.not_found"),
        (Busy("m", retry_after_seconds=3), "busy"),
        (ConfigError(["m"]), "config"),
    ],
)
def test_an_error_has_a_code_for_programs_and_a_message_for_people(error, slug):
    assert isinstance(error, IdpError)
    assert (error.slug, error.message, str(error)) == (slug, "m", "m")


def test_an_errors_own_code_stays_its_own():
    NotFound("m", slug="user.not_found")

    assert NotFound("m").slug == "not_found"


def test_config_errors_list_every_problem():
    error = ConfigError(["one", "two"])

    assert error.problems == ("one", "two")
    assert str(error) == "one\ntwo"


def test_busy_says_when_to_come_again():
    assert Busy("m", retry_after_seconds=3).retry_after_seconds == 3
