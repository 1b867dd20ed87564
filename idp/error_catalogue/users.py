"""Error codes about persons and service users, and about what they sign in with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry
from idp.foundation.i18n import message

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "code.expired": CatalogueEntry(
        400,
        "No code is waiting, or it has expired.",
        "Request a new one.",
        field_text=message("Generate a new code. This one is no longer valid.", context="console"),
    ),
    "code.tries": CatalogueEntry(
        400,
        "Too many wrong codes were tried.",
        "Request a new one.",
        field_text=message(
            "Generate a new code. There were too many failed attempts.", context="console"
        ),
    ),
    "code.closed": CatalogueEntry(
        400,
        "Too many wrong codes were tried for this address or number within a day.",
        "Try again tomorrow.",
    ),
    "code.wrong": CatalogueEntry(
        400,
        "The code is not the one that was sent.",
        "Copy it again from the message.",
        field_text=message("Check the code. This one is wrong.", context="console"),
    ),
    "user.name.foreign_domain": CatalogueEntry(
        400,
        "The username ends with a domain that another organization has verified.",
        "Choose another username; an administrator of the installation can assign this one.",
        field_text=message(
            "Choose another username. This one ends with another organization's domain.",
            context="console",
        ),
    ),
    "user.has_password": CatalogueEntry(
        400,
        "The user has a password, so an invitation isn't needed.",
        "Let them choose a new one with password_reset.",
    ),
    "email.missing": CatalogueEntry(
        400,
        "The user has no email.",
        "Give them one first.",
    ),
    "email.not_verified": CatalogueEntry(
        400,
        "The user's address isn't verified, so nothing is sent to it.",
        "Verify the address first, or request the code in the answer.",
        request_text=message("There is no verified address to send a code to.", context="console"),
    ),
    "email.not_waiting": CatalogueEntry(
        400,
        "The user's address is verified, so there is no code to send.",
        "There is nothing left to do.",
    ),
    "email.protected": CatalogueEntry(
        403,
        "The address belongs to a user who has more permissions than the caller.",
        "Let a code be mailed to the address, or an owner of the installation set it.",
    ),
    "factor.unsupported": CatalogueEntry(
        400,
        "The service doesn't support this second factor yet.",
        "Leave the field out.",
    ),
    "metadata.not_found": CatalogueEntry(
        404,
        "The user has no entry under this key.",
        "Check the key, in upper and lower case.",
    ),
    "factor.secret": CatalogueEntry(
        400,
        "The text is not the secret of an authenticator app.",
        "Send the base32 text that the app was set up with, 10 to 128 bytes of it.",
    ),
    "factor.last": CatalogueEntry(
        400,
        "The user's organization requires a second factor, and this is the only one.",
        "Set up another first.",
    ),
    "factor.password_too_short": CatalogueEntry(
        400,
        "Without the factor, the password of the person would be too short.",
        "Choose a longer password in the same step.",
    ),
    "factor.none": CatalogueEntry(
        400,
        "Recovery codes replace a second factor, and the user has none.",
        "Set up a second factor first.",
    ),
    "passkey.last": CatalogueEntry(
        400,
        "The passkey is the user's last authentication method.",
        "Add another one, or set a password, before you remove it.",
    ),
    "user.last_way": CatalogueEntry(
        400,
        "The user has no other authentication method.",
        "Set a password or add a passkey first.",
    ),
    "passkey.not_found": CatalogueEntry(
        404,
        "The user has no passkey with this ID.",
        "Search for the user's passkeys, and copy the ID.",
    ),
    "password.breached": CatalogueEntry(
        400,
        "The password is in the list of breached passwords.",
        "Choose another one.",
        field_text=message(
            "Enter another password. This one has appeared in a data breach.", context="console"
        ),
    ),
    "password.characters": CatalogueEntry(
        400,
        "The password contains a character that isn't allowed.",
        "Leave it out.",
    ),
    "password.common": CatalogueEntry(
        400,
        "The password is one of the most common ones.",
        "Choose a longer one of several words.",
        field_text=message("Enter another password. This one is too common.", context="console"),
    ),
    "password.lowercase": CatalogueEntry(
        400,
        "The policy requires a lowercase letter.",
        "Add one.",
    ),
    "password.number": CatalogueEntry(
        400,
        "The policy requires a digit.",
        "Add one.",
    ),
    "password.own_words": CatalogueEntry(
        400,
        "The password contains the person's own name, address or similar data.",
        "Choose words that have nothing to do with them.",
        field_text=message(
            "Enter another password. This one can be guessed from the user's data.",
            context="console",
        ),
    ),
    "password.refused": CatalogueEntry(
        400,
        "The password can't be used.",
        "Choose another one.",
    ),
    "password.symbol": CatalogueEntry(
        400,
        "The policy requires a symbol.",
        "Add one.",
    ),
    "password.too_easy": CatalogueEntry(
        400,
        "The password is easier to guess than the policy allows.",
        "Use several unrelated words.",
        field_text=message(
            "This password is easy to guess. Use several unrelated words.", context="password"
        ),
    ),
    "password.too_long": CatalogueEntry(
        400,
        "The password has more than 200 characters.",
        "Shorten it.",
        field_text=message("Enter a shorter password.", context="console"),
    ),
    "password.too_many_bytes": CatalogueEntry(
        400,
        "The password has more bytes than the hash function supports.",
        "Shorten it, or use argon2.",
        field_text=message("Enter a shorter password.", context="console"),
    ),
    "password.too_short": CatalogueEntry(
        400,
        "The password has fewer characters than the policy requires.",
        "Send a longer text.",
        field_text=message("Enter a longer password.", context="console"),
    ),
    "password.unchanged": CatalogueEntry(
        400,
        "It is the user's current password.",
        "Choose another one.",
    ),
    "password.uppercase": CatalogueEntry(
        400,
        "The policy requires an uppercase letter.",
        "Add one.",
    ),
    "password_hash.dear": CatalogueEntry(
        400,
        "One verification of the hash is estimated to take over 0.15 s (a warning of imports).",
        "There is nothing to do if few users sign in with such hashes at the same time: the first"
        " sign-in replaces each.",
    ),
    "password_hash.too_weak": CatalogueEntry(
        400,
        "The cost of the hash is lower than the installation allows.",
        "Let its owner choose a new password, or lower the setting that the message names.",
    ),
    "password_hash.unreadable": CatalogueEntry(
        400,
        "The hash is of an unknown format, or beyond the bounds of its parameters.",
        "Send the hash exactly as the other system stores it;"
        " docs/reference/password-hashes.md lists the formats.",
    ),
    "pat.expiration_past": CatalogueEntry(
        400,
        "The token would have expired already.",
        "Choose a time in the future.",
        field_text=message("That date is in the past.", context="refused"),
    ),
    "pat.not_found": CatalogueEntry(
        404,
        "The user has no such token.",
        "See the list of their tokens.",
    ),
    "phone.missing": CatalogueEntry(
        400,
        "The user has no phone number.",
        "Set one first.",
    ),
    "phone.not_waiting": CatalogueEntry(
        400,
        "The number is verified, so there is no code to send.",
        "There is nothing left to do.",
    ),
    "secret.current": CatalogueEntry(
        400,
        "It is the current secret.",
        "Generate a new one instead: the old one ends automatically.",
    ),
    "secret.not_found": CatalogueEntry(
        404,
        "There is no such secret.",
        "See the list of secrets.",
    ),
    "session.not_found": CatalogueEntry(
        404,
        "The user has no such session.",
        "See the list of their sessions.",
    ),
    "sign_in.throttled": CatalogueEntry(
        503,
        "Too many wrong passwords were tried.",
        "Send the request again after as many seconds as Retry-After says.",
    ),
    "taken": CatalogueEntry(
        409,
        "A name, domain or ID is already taken.",
        "Choose another one.",
    ),
    "totp.not_found": CatalogueEntry(
        404,
        "The user has no authenticator app.",
        "See their authentication methods.",
    ),
    "user.demo": CatalogueEntry(
        400,
        "The user belongs to the demo.",
        "End the demo instead.",
        request_text=message("The demo application needs this user.", context="console"),
    ),
    "user.email_held": CatalogueEntry(
        400,
        "The message waits in the service: there is no mail server yet.",
        "Read it there, or ask for the code in the answer.",
    ),
    "user.id_reserved": CatalogueEntry(
        400,
        "The ID is reserved for API paths or tokens.",
        "Choose another one, or let the service choose.",
    ),
    "user.id_taken": CatalogueEntry(
        409,
        "The ID belongs to another user.",
        "Choose another one, or let the service choose.",
        field_text=message("Enter another ID. Another user has this one.", context="console"),
    ),
    "user.last_owner": CatalogueEntry(
        400,
        "The installation has no other active owner.",
        "Make another user an owner first.",
        request_text=message(
            "This user is the only owner. Add a second owner first.", context="console"
        ),
    ),
    "user.login_name_taken": CatalogueEntry(
        409,
        "The username or email already belongs to another user.",
        "Choose another one.",
        field_text=message("That name is taken.", context="console"),
    ),
    "user.name_invisible": CatalogueEntry(
        400,
        "The name contains invisible characters.",
        "Leave them out.",
        field_text=message("Remove the invisible characters.", context="console"),
    ),
    "user.name_length": CatalogueEntry(
        400,
        "The name has too many characters.",
        "Shorten it.",
    ),
    "user.name_refused": CatalogueEntry(
        400,
        "The name can't be used.",
        "Choose another one.",
    ),
    "user.name_spaces": CatalogueEntry(
        400,
        "The name begins or ends with a space.",
        "Leave them out.",
        field_text=message(
            "Remove the spaces at the start and end of the username.", context="console"
        ),
    ),
    "user.no_secret": CatalogueEntry(
        400,
        "The service user has no secret.",
        "Generate one first.",
    ),
    "user.not_found": CatalogueEntry(
        404,
        "There is no such user.",
        "Check the ID; the user may belong to another organization.",
        field_text=message("No user has that name.", context="console"),
    ),
    "user.not_human": CatalogueEntry(
        400,
        "The user is a service user.",
        "Use the calls for service users.",
    ),
    "user.not_locked": CatalogueEntry(
        400,
        "The user is not locked.",
        "There is nothing left to do.",
    ),
    "user.not_machine": CatalogueEntry(
        400,
        "The user is a person.",
        "Use the calls for human users.",
    ),
    "user.proves_itself": CatalogueEntry(
        400,
        "The user has to verify their own address.",
        "Request a code.",
        request_text=message(
            "You can't mark your own address as verified. Request a code instead.",
            context="console",
        ),
    ),
    "user.state": CatalogueEntry(
        400,
        "The user already is in that state, or can't change to it from the present one.",
        "Read their state first.",
        request_text=message("The state has changed in the meantime.", context="console"),
    ),
}
