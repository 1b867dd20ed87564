"""The party by which an e-mail address or phone number is verified, in requests and packages."""

from __future__ import annotations

from typing import TypeVar

from idp.records import Email, Phone, VerifiedBy

C = TypeVar("C", Email, Phone)


def email(address: str, by: VerifiedBy, *, is_verified: bool) -> Email:
    """Returns the e-mail address that a request sets, as it is stored; `by` is the party that
    verified it, if it `is_verified`."""
    return Email(address=address, is_verified=is_verified, verified_by=_source(by, is_verified))


def phone(number: str, by: VerifiedBy, *, is_verified: bool) -> Phone:
    """Returns the phone number that a request sets, as it is stored; `by` is the party that
    verified it, if it `is_verified`."""
    return Phone(number=number, is_verified=is_verified, verified_by=_source(by, is_verified))


def _source(by: VerifiedBy, is_verified: bool) -> VerifiedBy:
    return by if is_verified else "mailbox"  # a later verification is by a code to the mailbox


def merged(stored: C, sent: C) -> C:
    """Returns the contact to store when a request sends the same address or number that is stored:
    `stored` or `sent`.

    It is `sent` if that is verified and `stored` is not verified everywhere; else `stored`, so
    that no verification is lost.
    """
    if stored.is_verified_everywhere or not sent.is_verified:
        return stored
    return sent


def source(contact: Email | Phone | None) -> str:
    """Returns the party that verified the contact, for an answer's field of that name; empty if it
    is not verified."""
    return contact.verified_by if contact and contact.is_verified else ""
