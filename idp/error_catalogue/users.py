"""Error codes about persons and service users, and about what they sign in with."""

from __future__ import annotations

from typing import Final

from idp.error_catalogue.entry import CatalogueEntry, ErrorCodes
from idp.foundation.i18n import message

USERS: Final[ErrorCodes] = {
    "code.expired": CatalogueEntry(
        400, message("Generate a new code. This one is no longer valid.", context="console")
    ),
    "code.tries": CatalogueEntry(
        400,
        message("Generate a new code. There were too many failed attempts.", context="console"),
    ),
    "code.closed": CatalogueEntry(400, "Try again tomorrow. There were too many wrong codes."),
    "code.wrong": CatalogueEntry(
        400, message("Check the code. This one is wrong.", context="console")
    ),
    "user.name.foreign_domain": CatalogueEntry(
        400,
        message(
            "Choose another username. This one ends with another organization's domain.",
            context="console",
        ),
    ),
    "user.has_password": CatalogueEntry(
        400, "Send the user a code by password_reset instead. An invitation isn't needed."
    ),
    "email.missing": CatalogueEntry(400, "Add an email first. The user has none."),
    "email.not_verified": CatalogueEntry(
        400, message("There is no verified address to send a code to.", context="console")
    ),
    "email.not_waiting": CatalogueEntry(400, "Nothing is left to do. The address is verified."),
    "email.protected": CatalogueEntry(
        403, "Send a code to the address, or ask an owner of the installation to set it."
    ),
    "factor.unsupported": CatalogueEntry(
        400, "Leave the field out. This second factor isn't supported yet."
    ),
    "metadata.not_found": CatalogueEntry(404, "Check the key, in upper and lower case."),
    "factor.secret": CatalogueEntry(
        400,
        "Enter the base32 text that the authenticator app was set up with, 10 to 128 bytes of it.",
    ),
    "factor.last": CatalogueEntry(400, "Set up another second factor first. One is required."),
    "factor.password_too_short": CatalogueEntry(
        400,
        "Choose a longer password in the same step. Without the factor, this one is too short.",
    ),
    "factor.none": CatalogueEntry(400, "Set up a second factor first. Recovery codes replace it."),
    "passkey.last": CatalogueEntry(
        400, "Add another passkey or set a password first. This is the last authentication method."
    ),
    "user.last_way": CatalogueEntry(
        400, "Set a password or add a passkey first. There is no other authentication method."
    ),
    "passkey.not_found": CatalogueEntry(404, "Check the ID. The user has no such passkey."),
    "password.breached": CatalogueEntry(
        400,
        message(
            "Enter another password. This one has appeared in a data breach.", context="console"
        ),
    ),
    "password.characters": CatalogueEntry(
        400, message("Remove the characters that can't be used.", context="password")
    ),
    "password.common": CatalogueEntry(
        400, message("Enter another password. This one is too common.", context="console")
    ),
    "password.lowercase": CatalogueEntry(
        400, message("Use a lowercase letter.", context="password")
    ),
    "password.number": CatalogueEntry(400, message("Use a digit.", context="password")),
    "password.own_words": CatalogueEntry(
        400,
        message(
            "Enter another password. This one can be guessed from the user's data.",
            context="console",
        ),
    ),
    "password.refused": CatalogueEntry(400, "Choose another password."),
    "password.symbol": CatalogueEntry(
        400, message("Use a symbol, such as ! or #.", context="password")
    ),
    "password.too_easy": CatalogueEntry(
        400,
        message(
            "This password is easy to guess. Use several unrelated words.", context="password"
        ),
    ),
    "password.too_long": CatalogueEntry(
        400, message("Enter a shorter password.", context="console")
    ),
    "password.too_many_bytes": CatalogueEntry(
        400, message("Enter a shorter password.", context="console")
    ),
    "password.too_short": CatalogueEntry(
        400, message("Enter a longer password.", context="console")
    ),
    "password.unchanged": CatalogueEntry(
        400, message("Choose another password. This is your current one.", context="password")
    ),
    "password.uppercase": CatalogueEntry(
        400, message("Use an uppercase letter.", context="password")
    ),
    "password_hash.dear": CatalogueEntry(
        400, "Leave it if few users have such hashes. The first sign-in replaces each."
    ),
    "password_hash.too_weak": CatalogueEntry(
        400, "Let the user choose a new password, or lower the setting that the message names."
    ),
    "password_hash.unreadable": CatalogueEntry(
        400, "Send the hash as the other system stores it (docs/reference/password-hashes.md)."
    ),
    "pat.expiration_past": CatalogueEntry(
        400, message("That date is in the past.", context="refused")
    ),
    "pat.not_found": CatalogueEntry(404, "Check the ID. The user has no such token."),
    "phone.missing": CatalogueEntry(400, "Add a phone number first. The user has none."),
    "phone.not_waiting": CatalogueEntry(400, "Nothing is left to do. The number is verified."),
    "secret.current": CatalogueEntry(
        400, "Generate a new secret instead. The current one ends automatically."
    ),
    "secret.not_found": CatalogueEntry(404, "Check the ID. There is no such secret."),
    "session.not_found": CatalogueEntry(404, "Check the ID. The user has no such session."),
    "sign_in.throttled": CatalogueEntry(
        503, "Try again after the seconds in Retry-After. There were too many wrong passwords."
    ),
    "taken": CatalogueEntry(409, "Choose another name, domain or ID. This one is taken."),
    "totp.not_found": CatalogueEntry(404, "Nothing is left to do. There is no authenticator app."),
    "user.demo": CatalogueEntry(
        400, message("The demo application needs this user.", context="console")
    ),
    "user.email_held": CatalogueEntry(
        400, "Read the message in the service, or request the code in the answer."
    ),
    "user.id_reserved": CatalogueEntry(400, "Choose another ID, or none. This one is reserved."),
    "user.id_taken": CatalogueEntry(
        409, message("Enter another ID. Another user has this one.", context="console")
    ),
    "user.last_owner": CatalogueEntry(
        400, message("This user is the only owner. Add a second owner first.", context="console")
    ),
    "user.login_name_taken": CatalogueEntry(
        409, message("That name is taken.", context="console")
    ),
    "user.name_invisible": CatalogueEntry(
        400, message("Remove the invisible characters.", context="console")
    ),
    "user.name_length": CatalogueEntry(400, "Shorten the name."),
    "user.name_refused": CatalogueEntry(400, "Choose another name. This one can't be used."),
    "user.name_spaces": CatalogueEntry(
        400, message("Remove the spaces at the start and end of the username.", context="console")
    ),
    "user.no_secret": CatalogueEntry(400, "Generate a secret first. The service user has none."),
    "user.not_found": CatalogueEntry(404, "Check the ID. It may be in another organization."),
    "user.not_human": CatalogueEntry(400, "Use the calls for service users."),
    "user.not_locked": CatalogueEntry(400, "Nothing is left to do. The user is not locked."),
    "user.not_machine": CatalogueEntry(400, "Use the calls for human users."),
    "user.proves_itself": CatalogueEntry(
        400,
        message(
            "You can't mark your own address as verified. Request a code instead.",
            context="console",
        ),
    ),
    "user.state": CatalogueEntry(
        400, "Read the state first. The user is in that state already, or can't change to it."
    ),
}
