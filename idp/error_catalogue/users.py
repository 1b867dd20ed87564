"""Error codes about persons and service users, and about what they sign in with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "code.expired": CatalogueEntry(
        400,
        "No code is waiting, or it has expired.",
        "Have a new one sent.",
    ),
    "code.tries": CatalogueEntry(
        400,
        "Too many wrong codes were tried.",
        "Have a new one sent.",
    ),
    "code.wrong": CatalogueEntry(
        400,
        "The code is not the one that was sent.",
        "Copy it again from the message.",
    ),
    "user.name.foreign_domain": CatalogueEntry(
        400,
        "The user name ends with a domain that another organization has verified.",
        "Choose another user name; an administrator of the installation may give this one.",
    ),
    "user.has_password": CatalogueEntry(
        400,
        "The user has a password, and needs no invitation.",
        "Let them choose a new one by password_reset.",
    ),
    "email.missing": CatalogueEntry(
        400,
        "The user has no e-mail address.",
        "Give them one first.",
    ),
    "email.not_verified": CatalogueEntry(
        400,
        "The user's address was never proven, so nothing is sent to it.",
        "Prove the address first, or ask for the code in the answer.",
    ),
    "email.not_waiting": CatalogueEntry(
        400,
        "The user's address is proven, so there is no code to send.",
        "There is nothing left to do.",
    ),
    "email.protected": CatalogueEntry(
        403,
        "Somebody who may do more than the caller signs in by this address.",
        "Let a code be mailed to the address, or an owner of the installation set it.",
    ),
    "factor.unsupported": CatalogueEntry(
        400,
        "The service has no such second factor yet.",
        "Leave the field out.",
    ),
    "metadata.not_found": CatalogueEntry(
        404,
        "The user has no entry under this key.",
        "Check the key, in upper and lower case.",
    ),
    "factor.secret": CatalogueEntry(
        400,
        "The text is no secret of an authenticator app.",
        "Send the base32 text that the app was set up with, 10 to 128 bytes of it.",
    ),
    "factor.last": CatalogueEntry(
        400,
        "The person's organization demands a second factor, and this is their only one.",
        "Set up another first.",
    ),
    "factor.password_too_short": CatalogueEntry(
        400,
        "Without the factor, the password of the person would be too short.",
        "Choose a longer password in the same step.",
    ),
    "factor.none": CatalogueEntry(
        400,
        "Recovery codes stand in for a second factor, and there is none.",
        "Set up a second factor first.",
    ),
    "passkey.last": CatalogueEntry(
        400,
        "The passkey is the last way in which its user can sign in.",
        "Add another one, or set a password, before you remove it.",
    ),
    "passkey.not_found": CatalogueEntry(
        404,
        "The user has no passkey with this id.",
        "Search for the user's passkeys, and copy the id.",
    ),
    "password.breached": CatalogueEntry(
        400,
        "The password is in the list of breached passwords.",
        "Choose another one.",
    ),
    "password.characters": CatalogueEntry(
        400,
        "The password holds a character that can't be stored.",
        "Leave it out.",
    ),
    "password.common": CatalogueEntry(
        400,
        "The password is among those that are tried first.",
        "Choose a longer one of several words.",
    ),
    "password.lowercase": CatalogueEntry(
        400,
        "The policy asks for a lower-case letter.",
        "Add one.",
    ),
    "password.number": CatalogueEntry(
        400,
        "The policy asks for a digit.",
        "Add one.",
    ),
    "password.own_words": CatalogueEntry(
        400,
        "The password is made of the person's own name, address or the like.",
        "Choose words that have nothing to do with them.",
    ),
    "password.refused": CatalogueEntry(
        400,
        "The password can't be used.",
        "Choose another one.",
    ),
    "password.symbol": CatalogueEntry(
        400,
        "The policy asks for a symbol.",
        "Add one.",
    ),
    "password.too_easy": CatalogueEntry(
        400,
        "The password would be guessed sooner than the policy accepts.",
        "Use several unrelated words.",
    ),
    "password.too_long": CatalogueEntry(
        400,
        "The password has more than 200 characters.",
        "Shorten it.",
    ),
    "password.too_many_bytes": CatalogueEntry(
        400,
        "The password has more octets than the way of hashing takes.",
        "Shorten it, or use argon2.",
    ),
    "password.too_short": CatalogueEntry(
        400,
        "The password has less characters than the policy asks for.",
        "Write more.",
    ),
    "password.unchanged": CatalogueEntry(
        400,
        "It is the password that the user has already.",
        "Choose another one.",
    ),
    "password.uppercase": CatalogueEntry(
        400,
        "The policy asks for an upper-case letter.",
        "Add one.",
    ),
    "password_hash.too_weak": CatalogueEntry(
        400,
        "A password could be guessed from the hash more cheaply than the installation allows.",
        "Let its owner choose a new password, or lower the setting that the message names.",
    ),
    "password_hash.unreadable": CatalogueEntry(
        400,
        "The hash is of an unknown format, or beyond the bounds of its parameters.",
        "Send it as its system wrote it; docs/password-hashes.md lists the formats.",
    ),
    "pat.expiration_past": CatalogueEntry(
        400,
        "The token would have expired already.",
        "Choose an instant to come.",
    ),
    "pat.not_found": CatalogueEntry(
        404,
        "The user has no such token.",
        "Look at the list of their tokens.",
    ),
    "phone.missing": CatalogueEntry(
        400,
        "The user has no phone number.",
        "Set one first.",
    ),
    "phone.not_waiting": CatalogueEntry(
        400,
        "The number is proven, so there is no code to send.",
        "There is nothing left to do.",
    ),
    "secret.current": CatalogueEntry(
        400,
        "It is the secret that counts.",
        "Generate a new one instead: the old one ends by itself.",
    ),
    "secret.not_found": CatalogueEntry(
        404,
        "There is no such secret.",
        "Read which there are.",
    ),
    "session.not_found": CatalogueEntry(
        404,
        "The user has no such session.",
        "Look at the list of their sessions.",
    ),
    "sign_in.throttled": CatalogueEntry(
        503,
        "Too many wrong passwords were tried.",
        "Come again after as many seconds as Retry-After says.",
    ),
    "taken": CatalogueEntry(
        409,
        "A name, a domain or an id is somebody's already.",
        "Choose another one.",
    ),
    "totp.not_found": CatalogueEntry(
        404,
        "The user has no authenticator app.",
        "Look at their authentication methods.",
    ),
    "user.demo": CatalogueEntry(
        400,
        "The user belongs to the demonstration.",
        "End the demonstration instead.",
    ),
    "user.email_held": CatalogueEntry(
        400,
        "The message waits in the service: there is no mail server yet.",
        "Read it there, or ask for the code in the answer.",
    ),
    "user.id_reserved": CatalogueEntry(
        400,
        "The id means something else in addresses or tokens.",
        "Choose another one, or let the service choose.",
    ),
    "user.id_taken": CatalogueEntry(
        409,
        "The id is another user's.",
        "Choose another one, or let the service choose.",
    ),
    "user.last_owner": CatalogueEntry(
        400,
        "Nobody else is an active owner of the installation.",
        "Make somebody else an owner first.",
    ),
    "user.login_name_taken": CatalogueEntry(
        409,
        "The user name or address signs somebody else in.",
        "Choose another one.",
    ),
    "user.name_invisible": CatalogueEntry(
        400,
        "The name holds invisible characters.",
        "Leave them out.",
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
        "There are spaces around the name.",
        "Leave them out.",
    ),
    "user.no_secret": CatalogueEntry(
        400,
        "The service user has no secret.",
        "Generate one first.",
    ),
    "user.not_found": CatalogueEntry(
        404,
        "There is no such user.",
        "Check the id; the user may be another organization's.",
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
        "Use the calls for people.",
    ),
    "user.proves_itself": CatalogueEntry(
        400,
        "It is up to the person to prove their own address.",
        "Have a code sent.",
    ),
    "user.state": CatalogueEntry(
        400,
        "The user is in that state already, or in one that leads elsewhere.",
        "Read their state first.",
    ),
}
