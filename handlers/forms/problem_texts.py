"""The console's texts for error codes; a code without one is displayed with the API's own
message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from handlers.forms import application_problem_texts, branding_problem_texts
from idp.foundation.errors import FieldProblem
from idp.foundation.i18n import Message, message

# Displayed at the field that has the problem.
_FIELD_TEXTS: Final[Mapping[str, Message]] = {
    "field.required": message("Enter a value.", context="console"),
    "field.empty": message("Enter a value.", context="console"),
    "field.characters": message("Remove the characters that can't be used.", context="console"),
    "field.unknown_name": message("Choose one from the list.", context="console"),
    "field.wrong_type": message(
        "Enter another value. This one can't be used here.", context="console"
    ),
    "field.out_of_range": message(
        "Enter another number. This one is too small or too large.", context="console"
    ),
    "field.timestamp": message("Enter a date such as 2030-12-31.", context="console"),
    "field.duration": message("Enter a whole number such as 12.", context="console"),
    "field.conflict": message(
        "Enter another value. This one can't be combined with the others.", context="console"
    ),
    "email.invalid": message("Enter an email such as name@example.com.", context="console"),
    "phone.invalid": message(
        "Enter a phone number with its country code, such as +41791234567.", context="console"
    ),
    "domain.invalid": message("Enter a domain name such as example.com.", context="console"),
    "user.not_found": message("No user has that name.", context="console"),
    "user.name.foreign_domain": message(
        "Choose another username. This one ends with another organization's domain.",
        context="console",
    ),
    "user.login_name_taken": message("That name is taken.", context="console"),
    "user.id_taken": message("Enter another ID. Another user has this one.", context="console"),
    "user.name_spaces": message(
        "Remove the spaces at the start and end of the username.", context="console"
    ),
    "user.name_invisible": message("Remove the invisible characters.", context="console"),
    "organization.name_taken": message(
        "Choose another name. Another organization has this one.", context="console"
    ),
    "group.name_taken": message(
        "Choose another name. Another group has this one.", context="console"
    ),
    "organization.domain_taken": message(
        "Enter another domain. Another organization has this one.", context="console"
    ),
    "domain.reserved": message(
        "Enter another domain. The service creates the domains under this one.", context="console"
    ),
    "metadata.key": message("Enter another key. This one can't be used.", context="console"),
    "field.too_few": message("Choose at least one.", context="console"),
    "field.address": message("Enter a URL such as https://example.com/.", context="console"),
    "birthdate.invalid": message("Enter a date such as 1990-01-31, or a year.", context="console"),
    "zoneinfo.unknown": message("Enter a time zone such as Europe/Zurich.", context="console"),
    "password.too_short": message("Enter a longer password.", context="console"),
    "password.too_long": message("Enter a shorter password.", context="console"),
    "password.too_many_bytes": message("Enter a shorter password.", context="console"),
    "password.common": message(
        "Enter another password. This one is too common.", context="console"
    ),
    "password.breached": message(
        "Enter another password. This one has appeared in a data breach.", context="console"
    ),
    "password.too_easy": message(
        "This password is easy to guess. Use several unrelated words.", context="password"
    ),
    "password.own_words": message(
        "Enter another password. This one can be guessed from the user's data.", context="console"
    ),
    "code.expired": message(
        "Generate a new code. This one is no longer valid.", context="console"
    ),
    "code.wrong": message("Check the code. This one is wrong.", context="console"),
    "code.tries": message(
        "Generate a new code. There were too many failed attempts.", context="console"
    ),
    "contact.same": message(
        "Enter a different value. This one is already saved.", context="account"
    ),
    "language.invalid": message("Enter a language such as en or pt-BR.", context="console"),
}
_TOO_LONG: Final = message(
    "Enter at most %(n)s character.",
    plural="Enter at most %(n)s characters.",
    context="console",
    n=1,
)

# Displayed for the request as a whole.
_REQUEST_TEXTS: Final[Mapping[str, Message]] = {
    "member.last_owner": message(
        "There is no other owner. Add a second owner first.", context="console"
    ),
    "user.last_owner": message(
        "This user is the only owner. Add a second owner first.",
        context="console",
    ),
    "organization.last_owner": message(
        "All owners of the installation belong to this organization. Add "
        "an owner from another organization first.",
        context="console",
    ),
    "organization.of_instance": message(
        "The installation's first organization can't be deleted.", context="console"
    ),
    "member.exists": message("This user is already a member.", context="console"),
    "group.member_managed": message(
        "A directory or a connection manages this membership. Remove it there.", context="console"
    ),
    "user_grant.exists": message(
        "This user already has roles in that project.", context="console"
    ),
    "user.proves_itself": message(
        "You can't mark your own address as verified. Request a code instead.", context="console"
    ),
    "user.demo": message("The demo application needs this user.", context="console"),
    "email.not_verified": message(
        "There is no verified address to send a code to.", context="console"
    ),
    "domain.exists": message("The organization already has this domain.", context="console"),
    "domain.too_many": message("The organization has too many domains.", context="console"),
    "domain.not_proven": message(
        "The token was not found. DNS changes can take a few hours.", context="console"
    ),
    "domain.no_challenge": message("Generate a token first.", context="console"),
    "domain.verified": message("The domain is already verified.", context="console"),
    "domain.not_verified": message("Verify the domain first.", context="console"),
    "domain.primary": message(
        "Usernames end with this domain. Make another domain primary first.", context="console"
    ),
    "user.state": message("The state has changed in the meantime.", context="console"),
    "organization.state": message("The state has changed in the meantime.", context="console"),
    "idempotency.other_request": message(
        "This form was already submitted with other values. Submit it again if you want both.",
        context="console",
    ),
    "idempotency.secret_gone": message(
        "This was already done, and its secret can't be shown again. Create another one.",
        context="console",
    ),
    "precondition.failed": message(
        "Someone else has changed this. Check the values that you "
        "entered. Saving them replaces the other change.",
        context="console",
    ),
}


def problem_text(problem: FieldProblem, label: Message | None) -> Message:
    """Returns the text of a problem for the field with this label. With None, it is about the
    request as a whole, and an unknown error code gets the API's message with the path."""
    if label is not None and problem.error_code == "field.too_long" and problem.limit is not None:
        return Message(_TOO_LONG.msgid, _TOO_LONG.context, _TOO_LONG.plural, {"n": problem.limit})
    if label is None:
        table = _REQUEST_TEXTS
    else:
        table = {
            **_FIELD_TEXTS,
            **application_problem_texts.FIELD_TEXTS,
            **branding_problem_texts.FIELD_TEXTS,
        }
    return table.get(problem.error_code) or Message(
        str(problem) if label is None else problem.message
    )
