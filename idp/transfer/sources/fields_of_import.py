"""The fields of one imported person by their names in the import's body, and by other common
names.

A table has a column for each field; a JSON line nests the fields as the body does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from idp.foundation import base64url

# The field of a draft by its path in the import's body. A column may have the last part of the
# path as its name, or one of `OTHER_NAMES`.
FIELD_BY_PATH: Final[Mapping[str, str]] = {
    "userId": "id",
    "userName": "user_name",
    "profile.firstName": "first_name",
    "profile.lastName": "last_name",
    "profile.nickName": "nick_name",
    "profile.displayName": "display_name",
    "profile.preferredLanguage": "language",
    "profile.gender": "gender",
    "profile.picture": "picture",
    "email.email": "email",
    "email.isEmailVerified": "is_email_verified",
    "phone.phone": "phone",
    "phone.isPhoneVerified": "is_phone_verified",
    "password": "password",
    "hashedPassword.value": "password_hash",
    "passwordChangeRequired": "must_change",
    "otpCode": "otp_secret",
    "state": "state",
}
OTHER_NAMES: Final[Mapping[str, str]] = {
    "id": "userId",
    "username": "userName",
    "login": "userName",
    "givenName": "profile.firstName",
    "familyName": "profile.lastName",
    "surname": "profile.lastName",
    "name": "profile.displayName",
    "language": "profile.preferredLanguage",
    "locale": "profile.preferredLanguage",
    "mail": "email.email",
    "emailAddress": "email.email",
    "emailVerified": "email.isEmailVerified",
    "phoneNumber": "phone.phone",
    "phoneVerified": "phone.isPhoneVerified",
    "hashedPassword": "hashedPassword.value",
    "passwordHash": "hashedPassword.value",
    "userPassword": "hashedPassword.value",
    "totpSecret": "otpCode",
}
SWITCHES: Final = frozenset({"is_email_verified", "is_phone_verified", "must_change"})
NAMES: Final[Mapping[str, str]] = {field: path for path, field in FIELD_BY_PATH.items()}


def comparable(name: str) -> str:
    """Returns the form in which the names of columns are compared: in lower case, without spaces
    or signs.

    `First Name`, `first_name` and `firstName` are equal.
    """
    return "".join(each for each in name.casefold() if each.isalnum())


def derived_id(org_id: str, user_name: object) -> str:
    """Returns an id for a person whose source has none, derived from the organization's id and the
    user name; it is the same whenever the source is read again.
    """
    digest = hashlib.sha256(f"{org_id}\0{user_name}".encode("utf-8", "replace")).digest()
    return "u" + base64url.encode(digest[:16])
