"""The member `providerOptions` of connections: the options of sign-ins by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from idp.foundation.errors import FieldProblem
from idp.management.connections.field_rules import ClaimSources
from idp.records.connections import ClaimMapping, ConnectionOptions, ProviderConnection
from idp.schema.answers import Answer
from idp.schema.field_rules import Domain, Items, NotYet, OneOf
from idp.schema.reading import Request, declared

MAX_DOMAINS: Final = 100
NO_AUTO_LINKING: Final = "AUTO_LINKING_OPTION_UNSPECIFIED"

_Domains = Annotated[list[Annotated[str, Domain(1)]], Items(MAX_DOMAINS)]
_Sources = Annotated[tuple[str, ...], ClaimSources()]


def contradiction(path: str, message: str) -> FieldProblem:
    """Returns the refusal of an option that can't be used together with the others."""
    return FieldProblem("connection.options_contradict", path, message)


class MappingForm(Request, frozen=True, kw_only=True):
    """Where the values of a user's fields come from; the first that is not empty counts."""

    user_name: _Sources = ()
    given_name: _Sources = ()
    family_name: _Sources = ()
    display_name: _Sources = ()
    nick_name: _Sources = ()
    preferred_language: _Sources = ()
    email: _Sources = ()

    def stored(self) -> ClaimMapping:
        """Returns the mapping in the form in which the record of a connection holds it."""
        return ClaimMapping(
            **{each.name: getattr(self, each.name) for each in declared(type(self))}
        )


class ProviderOptions(Request, frozen=True, kw_only=True):
    """What is omitted is off or empty. An account is linked only by a sign-in to it, so
    `autoLinking` has one value."""

    is_linking_allowed: bool = False
    is_creation_allowed: bool = False
    is_auto_creation: bool = False
    is_auto_update: Annotated[bool, NotYet("connection.auto_update")] = False
    auto_linking: Annotated[str, OneOf((NO_AUTO_LINKING,))] = NO_AUTO_LINKING
    domains: _Domains = []
    trusted_domains: _Domains = []
    mapping: MappingForm = MappingForm()

    def check(self) -> Iterator[FieldProblem]:
        if self.is_auto_creation and self.is_creation_allowed is False:
            message = "can't be true while isCreationAllowed is false"
            yield contradiction("isAutoCreation", message)

    def stored(self) -> ConnectionOptions:
        """Returns the options in the form in which the record of a connection holds them."""
        return ConnectionOptions(
            is_linking_allowed=self.is_linking_allowed,
            is_creation_allowed=self.is_creation_allowed,
            is_auto_creation=self.is_auto_creation,
        )


class MappingView(Answer, frozen=True, kw_only=True):
    user_name: list[str] = []
    given_name: list[str] = []
    family_name: list[str] = []
    display_name: list[str] = []
    nick_name: list[str] = []
    preferred_language: list[str] = []
    email: list[str] = []


class OptionsView(Answer, frozen=True, kw_only=True):
    is_linking_allowed: bool = False
    is_creation_allowed: bool = False
    is_auto_creation: bool = False
    domains: list[str] = []
    trusted_domains: list[str] = []
    mapping: MappingView = MappingView()


def view(connection: ProviderConnection) -> OptionsView:
    """Returns the options of a connection in the form in which the API returns them."""
    options = connection.options
    return OptionsView(
        is_linking_allowed=options.is_linking_allowed,
        is_creation_allowed=options.is_creation_allowed,
        is_auto_creation=options.is_auto_creation,
        domains=list(connection.domains),
        trusted_domains=list(connection.trusted_domains),
        mapping=MappingView(
            **{
                each: list(getattr(connection.mapping, each))
                for each in MappingView.__struct_fields__
            }
        ),
    )
