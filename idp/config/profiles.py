"""Profiles: the defaults that differ between a trial and a public installation (setting
`profile`).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

ApplicationUsers = Literal["everybody", "own_organization", "granted"]


class ProfileDefaults(NamedTuple):
    """The defaults that one profile has for the settings whose defaults depend on the profile."""

    self_registration: bool
    new_application_users: ApplicationUsers
    password_min_length: int
    password_min_strength: int
    pat_max_days: int
    key_max_days: int


TRIAL: Final = ProfileDefaults(
    self_registration=True,
    new_application_users="everybody",
    password_min_length=8,
    password_min_strength=0,
    pat_max_days=0,
    key_max_days=0,
)
PUBLIC: Final = ProfileDefaults(
    self_registration=False,
    new_application_users="own_organization",
    password_min_length=15,
    password_min_strength=3,
    pat_max_days=365,
    key_max_days=365,
)
