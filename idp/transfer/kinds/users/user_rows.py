"""Planning of batches of rows of users of either kind, by the rules for creating a single user.

No mail is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, structs

from idp.foundation.errors import FailedPrecondition, FieldProblem
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users.creation import NameAvailability, Paths
from idp.records import USERS, Organization, Password, User
from idp.transfer.kinds import target_organizations, upsert
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.kinds.users import user_changes
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, problem, refused
from storage import Write

_PATHS: Final = Paths(user_name="user.userName", email="user.email.email", id="userId")


class RowPassword(Struct, frozen=True):
    """The password of a row in the form in which it is stored, or the problems that prevent it
    from being stored.
    """

    password: Password | None = None
    problems: list[FieldProblem] = []


class UserTarget(Struct, frozen=True):
    """A row of a user that is to be created or updated: the parsed row, its organization, and the
    existing user with its id (`stored`), if any.
    """

    parsed: ParsedRow
    organization: Organization
    stored: User | None


class UserCase(Struct, frozen=True, kw_only=True):
    """A user whom a row creates or updates: `after` is the user's new state, `stored` the existing
    user or None, and `values` has the fields that differ from it.

    `names` is the availability of the login names that the user would get; None if they are not
    checked, or do not change.
    """

    parsed: ParsedRow
    organization: Organization
    after: User
    stored: User | None = None
    values: Mapping[str, Any] = {}
    names: NameAvailability | None = None

    @property
    def has_new_names(self) -> bool:
        """Whether the user gets login names that another user may already have."""
        return self.stored is None or bool({"user_name", "email"} & set(self.values))

    @property
    def problems(self) -> list[FieldProblem]:
        """The problems that the user's login names have because other users have them."""
        return self.names.problems(_PATHS) if self.names else []


async def find_targets(
    context: ImportContext, parsed_rows: Sequence[ParsedRow], kind: Literal["human", "machine"]
) -> list[UserTarget | RowPlan]:
    """Returns for each row, in their order, the user that it creates or updates, or the plan of a
    row that is refused or skipped.

    `kind` is the kind of user that the rows describe.
    """
    organizations = await target_organizations.by_id(context, parsed_rows)
    stored = await upsert.by_id(context, USERS, (_id(parsed) for parsed in parsed_rows))
    return [
        _target(
            context, parsed, kind, organizations.get(parsed.row.org_id), stored.get(_id(parsed))
        )
        for parsed in parsed_rows
    ]


def _id(parsed: ParsedRow) -> str:
    user_id: str = parsed.request.user_id  # type: ignore[attr-defined]
    return user_id


def _target(
    context: ImportContext,
    parsed: ParsedRow,
    kind: str,
    organization: Organization | None,
    stored: User | None,
) -> UserTarget | RowPlan:
    user_id = _id(parsed)
    if organization is None:
        return target_organizations.organization_not_found(user_id)
    if stored is None:
        return UserTarget(parsed, organization, None)
    # An import never moves a user to another organization, nor changes its kind.
    if stored.org_id != organization.id or stored.kind != kind:
        return upsert.not_in_organization(user_id, "userId")
    if not context.updates:
        return upsert.plan_skip(USERS, stored, user_id)
    return UserTarget(parsed, organization, stored)


def creation(target: UserTarget, user: User) -> UserCase:
    """Returns the case of a row that creates `user` in the organization of `target`."""
    return UserCase(parsed=target.parsed, organization=target.organization, after=user)


def update(target: UserTarget, stored: User, fields: Mapping[str, object]) -> UserCase:
    """Returns the case of a row that sets the fields `fields` of the existing user `stored`; those
    with equal values are ignored.
    """
    values = {name: value for name, value in fields.items() if getattr(stored, name) != value}
    after = structs.replace(stored, **values)
    return UserCase(
        parsed=target.parsed,
        organization=target.organization,
        after=after,
        stored=stored,
        values=values,
    )


async def with_names(
    context: ImportContext, rows: Sequence[UserCase | RowPlan]
) -> list[UserCase | RowPlan]:
    """Returns `rows` with the login names of their users checked: each case that assigns names
    has their availability, and the e-mail address as it will be stored. Plans are returned
    unchanged.
    """
    cases = [each for each in rows if isinstance(each, UserCase) and each.has_new_names]
    candidates = [
        user_creation.candidate(case.organization, case.after, case.stored) for case in cases
    ]
    availability = (
        await user_creation.availability_of_each(context.service, candidates) if cases else []
    )
    names = {case.after.id: each for case, each in zip(cases, availability, strict=True)}
    return [
        _with_names(each, names.get(each.after.id)) if isinstance(each, UserCase) else each
        for each in rows
    ]


def _with_names(case: UserCase, names: NameAvailability | None) -> UserCase:
    if names is None:
        return case
    after = names.of(case.after)
    if after.email == case.after.email:
        return structs.replace(case, names=names)
    values = {name: value for name, value in case.values.items() if name != "email"}
    if case.stored is not None and case.stored.email != after.email:
        values["email"] = after.email
    return structs.replace(case, names=names, after=after, values=values)


def with_password(case: UserCase, password: Password | None) -> UserCase:
    """Returns the case with `password` as the user's new one, unless it is None or the user has it
    already.
    """
    if password is None or (case.stored is not None and case.stored.password == password):
        return case
    after = structs.replace(case.after, password=password)
    return structs.replace(case, after=after, values={**case.values, "password": password})


async def plan(
    context: ImportContext,
    case: UserCase,
    writes: Sequence[Write] = (),
    warnings: tuple[RowProblem, ...] = (),
) -> RowPlan:
    """Returns the row plan that creates or updates the user of a case, or refuses the row if an
    update would leave the installation or an organization without an active owner.

    `writes` are further writes for the unit of an update, and `warnings` are reported with the
    row.
    """
    if case.stored is None:
        return _creation(context, case, warnings)
    return await _update(context, case, case.stored, writes, warnings)


def refusal(case: UserCase, problems: Iterable[FieldProblem]) -> RowPlan:
    """Returns the plan that refuses the row of a case because of `problems`."""
    return refused(case.after.id, *map(problem, problems))


def _creation(context: ImportContext, case: UserCase, warnings: tuple[RowProblem, ...]) -> RowPlan:
    assert case.names is not None  # noqa: S101 - a new user has names
    payload = import_payload(context, case.parsed)
    writes = user_creation.writes_of(
        context.service, case.after, case.names, context.actor, **payload
    )
    return RowPlan(action="create", id=case.after.id, writes=tuple(writes), problems=warnings)


async def _update(
    context: ImportContext,
    case: UserCase,
    stored: User,
    writes: Sequence[Write],
    warnings: tuple[RowProblem, ...],
) -> RowPlan:
    service, after = context.service, case.after
    if not case.values:
        return upsert.plan_skip(USERS, stored, stored.id)
    # Search keys are derived from the names, so they are set with every update.
    keys = user_lookup.keys(after.user_name, after.email, after.profile, after.org_id)
    values = {**case.values, **keys}
    if user_changes.ends_all(stored, values):
        # Sessions and tokens carry the stamp: a new one revokes all of them.
        values["stamp"] = service.random.token(bits=64)
    try:
        further_writes = await user_changes.accompanying_writes(context, stored, values)
    except FailedPrecondition as refusal:
        message = FieldProblem(refusal.error_code, "user.state", refusal.message)
        return refused(stored.id, problem(message))
    if case.names is not None:
        further_writes += case.names.writes(service, context.actor)
    user_plan = UpsertPlan(
        id=stored.id,
        collection=USERS,
        record=after,
        type="user",
        further_writes=lambda *_: [*further_writes, *writes],
        warnings=warnings,
    )
    return upsert.plan_update(context, case.parsed, stored, user_plan, values)
