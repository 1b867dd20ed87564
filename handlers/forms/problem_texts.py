"""The console's texts for error codes; a code without one is shown with the API's own message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from handlers.forms import application_problem_texts, branding_problem_texts
from idp.foundation.errors import FieldProblem
from idp.foundation.i18n import Message, message

# Shown at the field that has the problem.
_OF_FIELDS: Final[Mapping[str, Message]] = {
    "field.required": message("This is needed.", context="console"),
    "field.empty": message("This is needed.", context="console"),
    "field.characters": message("This holds a character that can't be used.", context="console"),
    "field.unknown_name": message("Choose one of the list.", context="console"),
    "field.wrong_type": message("This can't be used here.", context="console"),
    "field.out_of_range": message("That number is too small or too large.", context="console"),
    "field.timestamp": message("This is not a date.", context="console"),
    "field.duration": message("This is not a duration such as 1h30m.", context="console"),
    "field.conflict": message("This can't be used together with the others.", context="console"),
    "email.invalid": message("This is not an e-mail address.", context="console"),
    "phone.invalid": message(
        "This is not a phone number with its country, such as +41791234567.", context="console"
    ),
    "domain.invalid": message("This is not a domain name such as example.com.", context="console"),
    "user.not_found": message("Nobody here is called that.", context="console"),
    "user.name.foreign_domain": message(
        "The user name ends with a domain of another organization.", context="console"
    ),
    "user.login_name_taken": message("Somebody is called that already.", context="console"),
    "user.id_taken": message("Another user has this id.", context="console"),
    "user.name_spaces": message("A user name has no blanks at its ends.", context="console"),
    "user.name_invisible": message(
        "This holds a character that nobody can see.", context="console"
    ),
    "organization.name_taken": message("Another organization is called that.", context="console"),
    "organization.domain_taken": message(
        "Another organization has this domain.", context="console"
    ),
    "domain.reserved": message(
        "Domains under this one are made by the service.", context="console"
    ),
    "metadata.key": message("This can't be a key.", context="console"),
    "field.too_few": message("Choose one at least.", context="console"),
    "field.address": message(
        "This is not an address such as https://example.com/.", context="console"
    ),
    "birthdate.invalid": message(
        "This is not a day such as 1990-01-31, nor a year.", context="console"
    ),
    "zoneinfo.unknown": message(
        "This is not a time zone such as Europe/Zurich.", context="console"
    ),
    "password.too_short": message("This password is too short.", context="console"),
    "password.too_long": message("This password is too long.", context="console"),
    "password.too_many_bytes": message("This password is too long.", context="console"),
    "password.common": message("Too many people use this password.", context="console"),
    "password.breached": message(
        "This password has appeared in a data breach.", context="console"
    ),
    "password.too_easy": message(
        "Others would guess this soon: use several unrelated words.", context="password"
    ),
    "password.own_words": message(
        "This password can be guessed from what is known of the person.", context="console"
    ),
    "code.expired": message("This code counts no more. Have a new one made.", context="console"),
    "code.wrong": message("This is not the code.", context="console"),
    "code.tries": message("That was wrong too often. Have a new code made.", context="console"),
    "contact.same": message("This is what is known already.", context="account"),
    "language.invalid": message("This is not a language such as en or pt-BR.", context="console"),
}
_TOO_LONG: Final = message(
    "This is longer than %(n)s character.",
    plural="This is longer than %(n)s characters.",
    context="console",
    n=1,
)

# Shown for the request as a whole.
_OF_REQUESTS: Final[Mapping[str, Message]] = {
    "member.last_owner": message(
        "Nobody else owns this. Make somebody else an owner first.", context="console"
    ),
    "user.last_owner": message(
        "Nobody else owns what this person owns. Make somebody else an owner first.",
        context="console",
    ),
    "organization.last_owner": message(
        "Whoever owns the whole installation belongs to this organization. Make somebody of"
        " another one an owner first.",
        context="console",
    ),
    "organization.of_instance": message(
        "The installation's first organization stays.", context="console"
    ),
    "member.exists": message("This person is a member already.", context="console"),
    "user_grant.exists": message(
        "This person has roles in that project already.", context="console"
    ),
    "user.proves_itself": message(
        "You can't confirm your own address. Have a code sent to it.", context="console"
    ),
    "user.demo": message("The demo application needs this user.", context="console"),
    "email.not_verified": message(
        "There is no confirmed address to send a code to.", context="console"
    ),
    "domain.exists": message("The organization has this domain already.", context="console"),
    "domain.too_many": message("The organization has too many domains.", context="console"),
    "domain.not_proven": message(
        "The token was not found. A change of DNS can take some hours.", context="console"
    ),
    "domain.no_challenge": message("Make a token first.", context="console"),
    "domain.verified": message("The domain is proven already.", context="console"),
    "domain.not_verified": message("Prove first that the domain is yours.", context="console"),
    "domain.primary": message(
        "Login names end with this domain. Make another one primary first.", context="console"
    ),
    "user.state": message("The state has changed meanwhile.", context="console"),
    "organization.state": message("The state has changed meanwhile.", context="console"),
    "idempotency.other_request": message(
        "This form was sent before, with something else in it. Send it again if you want both.",
        context="console",
    ),
    "idempotency.secret_gone": message(
        "This was done already, and the secret that it showed is kept no longer. Make another"
        " one.",
        context="console",
    ),
    "precondition.failed": message(
        "Somebody else has changed this meanwhile. Here is what you entered: look at it again,"
        " and send it to replace what they did.",
        context="console",
    ),
}


def problem(refused: FieldProblem, label: Message | None) -> Message:
    """Returns the text of a problem for the field with this label. With None, it is about the
    request as a whole, and an unknown error code gets the API's message with the path."""
    if label is not None and refused.error_code == "field.too_long" and refused.limit is not None:
        return Message(_TOO_LONG.msgid, _TOO_LONG.context, _TOO_LONG.plural, {"n": refused.limit})
    if label is None:
        table = _OF_REQUESTS
    else:
        table = {
            **_OF_FIELDS,
            **application_problem_texts.OF_FIELDS,
            **branding_problem_texts.OF_FIELDS,
        }
    return table.get(refused.error_code) or Message(
        str(refused) if label is None else refused.message
    )
