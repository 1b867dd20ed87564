from __future__ import annotations

import pytest

from idp.foundation.errors import Busy, ConfigError, IdpError, NotFound


@pytest.mark.parametrize(
    ("error", "error_code"),
    [
        (IdpError("m"), "internal"),
        (NotFound("m"), "not_found"),
        (NotFound("m", error_code="user.not_found"), "user.not_found"),
        (Busy("m", retry_after_seconds=3), "busy"),
        (ConfigError(["m"]), "config"),
    ],
)
def test_an_error_has_a_code_for_programs_and_a_message_for_people(error, error_code):
    assert isinstance(error, IdpError)
    assert (error.error_code, error.message, str(error)) == (error_code, "m", "m")


def test_an_errors_own_code_stays_its_own():
    NotFound("m", error_code="user.not_found")

    assert NotFound("m").error_code == "not_found"


def test_config_errors_list_every_problem():
    error = ConfigError(["one", "two"])

    assert error.problems == ("one", "two")
    assert str(error) == "one\ntwo"


def test_busy_says_when_to_come_again():
    assert Busy("m", retry_after_seconds=3).retry_after_seconds == 3
