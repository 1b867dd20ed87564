"""By whom an e-mail address or a phone number is verified, as requests and packages say it."""

from __future__ import annotations

from typing import Final, TypeVar, get_args

from idp.records import Email, Phone, VerifiedBy

C = TypeVar("C", Email, Phone)

VALUES: Final[tuple[VerifiedBy, ...]] = get_args(VerifiedBy)


def email(address: str, by: VerifiedBy, *, is_verified: bool) -> Email:
    """An address that was set; `by` counts if it is called verified."""
    return Email(address=address, is_verified=is_verified, verified_by=_source(by, is_verified))


def phone(number: str, by: VerifiedBy, *, is_verified: bool) -> Phone:
    """A number that was set; `by` counts if it is called verified."""
    return Phone(number=number, is_verified=is_verified, verified_by=_source(by, is_verified))


def _source(by: VerifiedBy, is_verified: bool) -> VerifiedBy:
    return by if is_verified else "mailbox"  # by which it will be


def merged(known: C, sent: C) -> C:
    """What is known of an address or a number that was sent once more: what counts everywhere, or
    was verified at all, is not taken back."""
    if known.is_verified_everywhere or not sent.is_verified:
        return known
    return sent


def source(contact: Email | Phone | None) -> str:
    """By whom it is verified, as it is answered; empty for what is not."""
    return contact.verified_by if contact and contact.is_verified else ""
