"""What every way of describing a person to the management API shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from idp.errors import FieldProblem
from idp.fields import Language, Text
from idp.i18n import SOURCE, load
from idp.identity.passwords import Problem
from idp.records import Profile
from idp.requests import Request

Gender = Literal["GENDER_UNSPECIFIED", "GENDER_FEMALE", "GENDER_MALE", "GENDER_DIVERSE"]
_GENDERS: Final[Mapping[str, Literal["female", "male", "diverse"]]] = {
    "GENDER_FEMALE": "female",
    "GENDER_MALE": "male",
    "GENDER_DIVERSE": "diverse",
}


class ProfileFields(Request, frozen=True, kw_only=True):
    """A profile, first and last name aside: each generation of the API has its own for them."""

    nick_name: Annotated[str, Text()] = ""
    display_name: Annotated[str, Text()] = ""
    preferred_language: Annotated[str, Language()] = ""
    gender: Gender = "GENDER_UNSPECIFIED"

    def as_profile(self, given_name: str, family_name: str) -> Profile:
        """The profile as a user record has it."""
        return Profile(
            display_name=self.display_name or "",
            given_name=given_name,
            family_name=family_name,
            nick_name=self.nick_name or None,
            preferred_language=self.preferred_language or None,
            gender=_GENDERS.get(self.gender),
        )


def password_problems(path: str, problems: Iterable[Problem]) -> list[FieldProblem]:
    """What keeps a password from being accepted, as an answer says it."""
    return [FieldProblem(each.slug, path, load(SOURCE).text(each.text)) for each in problems]
