"""Planning of users of either kind: by the rules of a single creation, for many at once.

No mail is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, structs

from idp.foundation.cooperative import in_turns
from idp.foundation.errors import FailedPrecondition, FieldProblem
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.identity.users.creation import NameAvailability, Paths
from idp.records import USERS, Organization, Password, User
from idp.transfer.kinds import target_organizations, upsert
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.kinds.users import user_changes
from idp.transfer.package.rows import PreparedRow, Read, RowProblem, problem, refused
from storage import Write

_PATHS: Final = Paths(user_name="user.userName", email="user.email.email", id="userId")


class RowPassword(Struct, frozen=True):
    """A password as it is stored, or the problems that prevent it."""

    password: Password | None = None
    problems: list[FieldProblem] = []


class Case(Struct, frozen=True, kw_only=True):
    """A user to create or to update: the state after it, and the fields that differ."""

    read: Read
    home: Organization
    after: User
    known: User | None = None
    values: Mapping[str, Any] = {}

    @property
    def gives_out_names(self) -> bool:
        """Whether the user gets login names, which other users may have."""
        return self.known is None or bool({"user_name", "email"} & set(self.values))


class Rules(Struct, frozen=True, kw_only=True):
    """The differences between the kinds of users.

    `new` returns the user that a row describes, `wanted` the fields that it sets of an existing
    user. `judge` returns further problems, `choose` the row's plaintext password (None if it has
    none).
    """

    kind: Literal["human", "machine"]
    new: Callable[[ImportContext, Organization, Read], User]
    wanted: Callable[[ImportContext, User, Read], Mapping[str, object]]
    judge: Callable[[ImportContext, Case], list[FieldProblem]] = lambda *_: []
    choose: Callable[[ImportContext, Case], Awaitable[RowPassword | None]] | None = None
    also: Callable[[User, User], Sequence[Write]] = lambda *_: ()
    warnings: Callable[[Read], tuple[RowProblem, ...]] = lambda _: ()


async def prepare(taking: ImportContext, reads: Sequence[Read], rules: Rules) -> list[PreparedRow]:
    """Plans users: new ones are created; existing ones are skipped, or with `updates` updated."""
    there = await target_organizations.found(taking, reads)
    known = await upsert.by_id(taking, USERS, (_id(read) for read in reads))
    begun = [
        _begin(taking, read, rules, there.get(read.row.org_id), known.get(_id(read)))
        # Other tasks of the event loop run in between: a batch may have a thousand rows.
        async for read in in_turns(reads)
    ]
    cases = [each for each in begun if isinstance(each, Case)]
    names = await _availability(taking, cases)
    ends = iter(
        [
            await _end(taking, case, rules, names.get(case.after.id))
            async for case in in_turns(cases)
        ]
    )
    return [next(ends) if isinstance(each, Case) else each for each in begun]


def _id(read: Read) -> str:
    id: str = read.request.user_id  # type: ignore[attr-defined]
    return id


def _begin(
    taking: ImportContext, read: Read, rules: Rules, home: Organization | None, known: User | None
) -> Case | PreparedRow:
    """Returns the case of a row, or its plan where that is already certain."""
    id = _id(read)
    if home is None:
        return target_organizations.homeless(id)
    if known is None:
        return Case(read=read, home=home, after=rules.new(taking, home, read))
    # An import never moves a user to another organization, nor changes its kind.
    if known.org_id != home.id or known.kind != rules.kind:
        return upsert.elsewhere(id, "userId")
    if not taking.updates:
        return upsert.left(USERS, known, id)
    wanted = rules.wanted(taking, known, read)
    values = {name: value for name, value in wanted.items() if getattr(known, name) != value}
    after = structs.replace(known, **values)
    return Case(read=read, home=home, after=after, known=known, values=values)


async def _availability(
    taking: ImportContext, cases: Sequence[Case]
) -> dict[str, NameAvailability]:
    """Returns, by user id, whether these users may have the names that they would sign in with."""
    asked = [case for case in cases if case.gives_out_names]
    candidates = [user_creation.candidate(case.home, case.after, case.known) for case in asked]
    found = await user_creation.availability_of_each(taking.service, candidates) if asked else []
    return {case.after.id: each for case, each in zip(asked, found, strict=True)}


async def _end(
    taking: ImportContext, case: Case, rules: Rules, names: NameAvailability | None
) -> PreparedRow:
    problems = names.problems(_PATHS) if names else []
    case = _verified(case, names) if names else case
    problems += rules.judge(taking, case)
    if rules.choose and not problems:
        chosen = await rules.choose(taking, case)
        if chosen is not None:
            problems += chosen.problems
            case = _with(case, chosen.password)
    if problems:
        return refused(case.after.id, *map(problem, problems))
    if case.known is None:
        return _created(taking, case, rules, names)
    return await _changed(taking, case, rules, case.known, names)


def _verified(case: Case, names: NameAvailability) -> Case:
    """Returns the case with the address as it will be stored, with its verification."""
    after = names.of(case.after)
    if after.email == case.after.email:
        return case
    values = {name: value for name, value in case.values.items() if name != "email"}
    is_changed = case.known is not None and case.known.email != after.email
    return structs.replace(
        case, after=after, values={**values, "email": after.email} if is_changed else values
    )


def _with(case: Case, password: Password | None) -> Case:
    """Returns the case with this password."""
    if password is None or (case.known is not None and case.known.password == password):
        return case
    after = structs.replace(case.after, password=password)
    return structs.replace(case, after=after, values={**case.values, "password": password})


def _created(
    taking: ImportContext, case: Case, rules: Rules, names: NameAvailability | None
) -> PreparedRow:
    assert names is not None  # noqa: S101 - a new user has names
    payload = import_payload(taking, case.read)
    writes = user_creation.writes_of(taking.service, case.after, names, taking.actor, **payload)
    return PreparedRow(
        action="create",
        id=case.after.id,
        writes=tuple(writes),
        problems=rules.warnings(case.read),
    )


async def _changed(
    taking: ImportContext, case: Case, rules: Rules, known: User, names: NameAvailability | None
) -> PreparedRow:
    service, after = taking.service, case.after
    if not case.values:
        return upsert.left(USERS, known, known.id)
    # Search keys are derived from the names, so they are set with every update.
    keys = user_lookup.keys(after.user_name, after.email, after.profile, after.org_id)
    values = {**case.values, **keys}
    if user_changes.ends_all(known, values):
        # Sessions and tokens carry the stamp: a new one revokes all of them.
        values["stamp"] = service.random.token(bits=64)
    try:
        also = await user_changes.besides(taking, known, values)
    except FailedPrecondition as refusal:
        told = FieldProblem(refusal.slug, "user.state", refusal.message)
        return refused(known.id, problem(told))
    if names is not None:
        also += names.writes(service, taking.actor)
    wanted = UpsertPlan(
        id=known.id,
        collection=USERS,
        record=after,
        type="user",
        also=lambda before, after: [*also, *rules.also(before, after)],
        warnings=rules.warnings(case.read),
    )
    return upsert.changed(taking, case.read, known, wanted, values)
