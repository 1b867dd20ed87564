"""The texts that a form displays for the errors of the API."""

from __future__ import annotations

import pytest

from handlers.forms import fields
from handlers.forms.fields import FormField
from idp.error_catalogue import ERROR_CODES
from idp.foundation.errors import FailedPrecondition, FieldProblem, InvalidArgument
from idp.foundation.i18n import Message

FIELD = FormField(path="name", label=Message("Name"))


def told(error):
    (problem,) = fields.problems([FIELD], error)
    return problem["field"], problem["text"].msgid


@pytest.mark.parametrize(
    ("error_code", "text"),
    [
        ("group.name_taken", "Choose another name. Another group has this one."),
        ("connection.id_fixed", "Leave the ID out. It can't be changed."),
        ("field.timestamp", "Enter a date such as 2030-12-31."),  # where the API wants a time
        ("text.placeholder", "may name {{.Code}} only"),
        ("a code of tomorrow", "may name {{.Code}} only"),
    ],
)
def test_a_field_shows_the_catalogues_text_unless_the_form_or_the_message_knows_better(
    error_code, text
):
    error = InvalidArgument([FieldProblem(error_code, "name", "may name {{.Code}} only")])

    assert told(error) == ("name", text)


def test_a_value_that_no_field_has_is_named_by_its_path():
    error = InvalidArgument([FieldProblem("field.required", "user.email", "is required")])

    assert told(error) == (None, "user.email: is required")


def test_a_refused_state_has_the_catalogues_text_although_no_field_has_it():
    error = FailedPrecondition("no", error_code="group.member_managed", field="userId")

    assert told(error) == (None, ERROR_CODES["group.member_managed"].fix)


def test_the_codes_with_a_text_of_their_own_are_those_of_the_api_or_of_forms():
    own = {*fields._FORM_TEXTS, *fields._SPECIFIC}

    assert own - set(ERROR_CODES) == {"contact.same", "pat.long"}
