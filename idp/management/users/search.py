"""Searches of users by their names, contacts and state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Final, TypeAlias

from msgspec import structs

from idp.foundation.errors import FieldProblem
from idp.foundation.texts.text_folding import normalized
from idp.identity.users import lookup as user_lookup
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import MAX_FILTERS, Search, SearchDetails, TextQuery
from idp.management.users import read as user_read
from idp.management.users.read import UserAnswer
from idp.records import ORGANIZATIONS, USERS, Organization, User
from idp.schema.answers import Answer
from idp.schema.field_rules import Items, Name, OneOf, Text
from idp.schema.reading import MAX_ITEMS, Request
from idp.search.query_planner import Filter
from idp.service import Service

_QueriedText: TypeAlias = Annotated[str, Text(1)]

_STATES: Final[Mapping[str, str]] = {name: state for state, name in user_read.STATES.items()}
_TYPES: Final[Mapping[str, str]] = {"TYPE_HUMAN": "human", "TYPE_MACHINE": "machine"}
_ORDERS: Final[Mapping[str, str | None]] = {
    "USER_FIELD_NAME_UNSPECIFIED": None,
    "USER_FIELD_NAME_USER_NAME": "login_key",
    "USER_FIELD_NAME_DISPLAY_NAME": "display_key",
}
_UNSUPPORTED_ORDERS: Final = tuple(
    f"USER_FIELD_NAME_{name}"
    for name in (
        "USER_ID",
        "FIRST_NAME",
        "LAST_NAME",
        "NICK_NAME",
        "EMAIL",
        "STATE",
        "TYPE",
        "CREATION_DATE",
    )
)


class UserNameQuery(TextQuery, frozen=True, kw_only=True):
    user_name: _QueriedText


class FirstNameQuery(TextQuery, frozen=True, kw_only=True):
    first_name: _QueriedText


class LastNameQuery(TextQuery, frozen=True, kw_only=True):
    last_name: _QueriedText


class NickNameQuery(TextQuery, frozen=True, kw_only=True):
    nick_name: _QueriedText


class DisplayNameQuery(TextQuery, frozen=True, kw_only=True):
    display_name: _QueriedText


class EmailQuery(TextQuery, frozen=True, kw_only=True):
    email_address: _QueriedText


class PhoneQuery(TextQuery, frozen=True, kw_only=True):
    """`number` in the form in which it is stored: `+` and digits."""

    number: _QueriedText


class LoginNameQuery(Request, frozen=True, kw_only=True):
    """A filter by any login name of the user: also an email address, and the username with the
    domain.
    """

    login_name: Annotated[str, Text(1, 500)]
    method: Annotated[
        str,
        OneOf(
            ("TEXT_QUERY_METHOD_EQUALS", "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"),
            not_yet=tuple(
                f"TEXT_QUERY_METHOD_{how}{case}"
                for how in ("STARTS_WITH", "CONTAINS", "ENDS_WITH")
                for case in ("", "_IGNORE_CASE")
            ),
            error_code="query.method_unsupported",
        ),
    ] = "TEXT_QUERY_METHOD_EQUALS"


class UserStateQuery(Request, frozen=True, kw_only=True):
    state: Annotated[str, OneOf(tuple(_STATES))]


class TypeQuery(Request, frozen=True, kw_only=True):
    type: Annotated[str, OneOf(tuple(_TYPES))]


class OrganizationIdQuery(Request, frozen=True, kw_only=True):
    organization_id: Name


class InUserIdsQuery(Request, frozen=True, kw_only=True):
    user_ids: Annotated[list[Name], Items(MAX_ITEMS, min=1)]


class UserQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (
        (
            "user_name_query",
            "first_name_query",
            "last_name_query",
            "nick_name_query",
            "display_name_query",
            "email_query",
            "phone_query",
            "login_name_query",
            "state_query",
            "type_query",
            "organization_id_query",
            "in_user_ids_query",
        ),
    )

    user_name_query: UserNameQuery | None = None
    first_name_query: FirstNameQuery | None = None
    last_name_query: LastNameQuery | None = None
    nick_name_query: NickNameQuery | None = None
    display_name_query: DisplayNameQuery | None = None
    email_query: EmailQuery | None = None
    phone_query: PhoneQuery | None = None
    login_name_query: LoginNameQuery | None = None
    state_query: UserStateQuery | None = None
    type_query: TypeQuery | None = None
    organization_id_query: OrganizationIdQuery | None = None
    in_user_ids_query: InUserIdsQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        if all(value is None for value in structs.astuple(self)):
            yield FieldProblem("field.required", "", "must contain one filter")


class UserSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[UserQuery], Items(MAX_FILTERS)] = []
    sorting_column: Annotated[
        str,
        OneOf(tuple(_ORDERS), not_yet=_UNSUPPORTED_ORDERS, error_code="query.sorting_unsupported"),
    ] = "USER_FIELD_NAME_UNSPECIFIED"


class UsersFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[UserAnswer] = []
    next_cursor: str = ""


async def search(service: Service, call: Call, request: UserSearch) -> UsersFound:
    """Returns users that match the search, of all organizations that the caller may read.

    The answer's login names do not include e-mail addresses: whether an address is a login name
    depends on other users. Raises InvalidArgument (the cursor).
    """
    filters = [await _filter(service, each) for each in request.queries]
    page = await management_search.find(
        service,
        USERS,
        request.query,
        filters,
        organizations=management_search.reachable_organizations(call),
        order=_ORDERS[request.sorting_column],
    )
    organizations = await organizations_of(service, page.records)
    return UsersFound(
        details=page.details,
        result=[
            user_read.answer(organizations[user.org_id], user)
            for user in page.records
            if user.org_id in organizations
        ],
        next_cursor=page.next_cursor,
    )


async def organizations_of(service: Service, users: Sequence[User]) -> dict[str, Organization]:
    """Returns the organizations of the users, by id."""
    ids = sorted({user.org_id for user in users})
    organizations = (
        await service.store.get_many([(ORGANIZATIONS, org_id) for org_id in ids]) if ids else []
    )
    return {organization.id: organization for organization in organizations if organization}


async def _filter(service: Service, query: UserQuery) -> Filter:
    if query.login_name_query:
        user = await _by_login_name(service, query.login_name_query)
        return Filter(path="id", how="in", value=[user.id] if user else [])
    return _by_text(query) or _by_property(query)


# For each filter by a text: the field of the record, and the one that holds its folded form, which
# only some have. Without it a filter that ignores case is applied to the records that are read.
TEXTS: Final[Mapping[str, tuple[str, str | None]]] = {
    "user_name": ("user_name", "login_key"),
    "email_address": ("email.address", "address_key"),
    "display_name": ("profile.display_name", "display_key"),
    "first_name": ("profile.given_name", None),
    "last_name": ("profile.family_name", "family_key"),
    "nick_name": ("profile.nick_name", None),
    "number": ("phone.number", "phone.number"),
}


def _by_text(query: UserQuery) -> Filter | None:
    for condition in structs.astuple(query):
        if isinstance(condition, TextQuery):
            (name,) = set(condition.__struct_fields__) - {"method"}
            path, key = TEXTS[name]
            return condition.of(path, getattr(condition, name), key)
    return None


def _by_property(query: UserQuery) -> Filter:
    if query.state_query:
        return Filter(path="state", value=_STATES[query.state_query.state])
    if query.type_query:
        return Filter(path="kind", value=_TYPES[query.type_query.type])
    if query.organization_id_query:
        return Filter(path="org_id", value=query.organization_id_query.organization_id)
    ids = query.in_user_ids_query
    return Filter(path="id", how="in", value=ids.user_ids if ids else [])


async def _by_login_name(service: Service, query: LoginNameQuery) -> User | None:
    user = await user_lookup.find_by_login_name(service, query.login_name)
    # The look-up ignores case, as a sign-in does.
    if user is None or query.method.endswith("_IGNORE_CASE"):
        return user
    subject = await user_lookup.subject_of(service, user)
    if subject is None:
        return None
    names = user_read.answer(subject.organization, user).login_names
    names += [user.email.address] if user.email else []
    login_name = normalized(query.login_name.strip())
    return user if login_name in map(normalized, names) else None
