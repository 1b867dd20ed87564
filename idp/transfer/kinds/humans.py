"""`humanUsers`: people, with the ids and the passwords that they have elsewhere.

By the rules of a single creation, for many at once. Nobody is sent a mail. A password in the
clear is hashed here, which takes as long as it takes at a sign-in: some forty a second and core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from idp.errors import FailedPrecondition, FieldProblem
from idp.identity import new_users, users
from idp.identity.new_users import Paths, Standing
from idp.records import USERS, Organization, Password, User
from idp.transfer.kinds import homes, human_changes, plain_passwords, storing
from idp.transfer.kinds.human_request import HumanRow, PackagedHuman
from idp.transfer.kinds.human_telling import tell
from idp.transfer.kinds.kind import Kind, Taking, import_payload
from idp.transfer.kinds.storing import Wanted
from idp.transfer.rows import Prepared, Problem, Read, problem, refused

_PATHS: Final = Paths(user_name="user.userName", email="user.email.email", id="userId")


class _Case(Struct, frozen=True, kw_only=True):
    """A person to be, or to be changed: as they will be, and in which fields they differ."""

    read: Read
    row: PackagedHuman
    home: Organization
    after: User
    known: User | None = None
    values: Mapping[str, Any] = {}

    @property
    def gives_out_names(self) -> bool:
        """Whether others may want the same names."""
        return self.known is None or bool({"user_name", "email"} & set(self.values))


async def prepare(taking: Taking, reads: Sequence[Read]) -> list[Prepared]:
    """New people are made; those who exist are left alone, or with `updates` changed."""
    there = await homes.found(taking, reads)
    known = await storing.by_id(taking, USERS, (_row(read).user_id for read in reads))
    begun = [
        _begin(taking, read, there.get(read.row.org_id), known.get(_row(read).user_id))
        for read in reads
    ]
    cases = [each for each in begun if isinstance(each, _Case)]
    standing = await _standing(taking, cases)
    ends = iter([await _end(taking, case, standing.get(case.after.id)) for case in cases])
    return [next(ends) if isinstance(each, _Case) else each for each in begun]


def _row(read: Read) -> HumanRow:
    assert isinstance(read.request, HumanRow)  # noqa: S101 - told to mypy
    return read.request


def _begin(
    taking: Taking, read: Read, home: Organization | None, known: User | None
) -> _Case | Prepared:
    """What is to be judged of a row; or what becomes of it, where that is plain already."""
    request = _row(read)
    id, row = request.user_id, request.user
    if home is None:
        return homes.homeless(id)
    if known is None:
        after = _new(taking, home, id, row)
        return _Case(read=read, row=row, home=home, after=after)
    if known.org_id != home.id or known.kind != "human":
        return storing.elsewhere(id, "userId")
    if not taking.updates:
        return storing.left(USERS, known, id)
    values = human_changes.wanted(taking.service, known, row)
    after = structs.replace(known, **values)
    return _Case(read=read, row=row, home=home, after=after, known=known, values=values)


def _new(taking: Taking, home: Organization, id: str, row: PackagedHuman) -> User:
    service, now = taking.service, taking.service.clock.now()
    new = structs.replace(row.person(), id=id, password=row.hashed(now))
    user = new_users.user_of(service, home, new, now)
    if user.totp is not None:
        user.totp.name = row.otp_name
    return user


async def _standing(taking: Taking, cases: Sequence[_Case]) -> dict[str, Standing]:
    """How the names stand that these people would sign in by, by their ids."""
    asked = [case for case in cases if case.gives_out_names]
    candidates = [
        structs.replace(
            new_users.candidate(case.home, case.after), besides=case.known and case.known.id
        )
        for case in asked
    ]
    found = await new_users.standing_of_each(taking.service, candidates) if asked else []
    return {case.after.id: each for case, each in zip(asked, found, strict=True)}


async def _end(taking: Taking, case: _Case, standing: Standing | None) -> Prepared:
    id = case.after.id
    problems = new_users.name_problems(standing.taken, _PATHS) if standing else []
    problems += _hash_problems(taking, case)
    if not problems and case.row.password:
        chosen = await plain_passwords.chosen(taking, case.home, case.row, case.known)
        problems += chosen.problems
        case = _with(case, chosen.password)
    if problems:
        return refused(id, *map(problem, problems))
    if case.known is None:
        return _created(taking, case, standing)
    return await _changed(taking, case, case.known, standing)


def _hash_problems(taking: Taking, case: _Case) -> list[FieldProblem]:
    """A hash that is brought has to be dear enough; one that is here already is what it is."""
    sent = case.after.password
    known = case.known.password if case.known else None
    if sent is None or (known is not None and known.hash == sent.hash):
        return []
    return new_users.hash_problems(taking.service, "user.hashedPassword.value", sent.hash)


def _with(case: _Case, password: Password | None) -> _Case:
    """The same person with this password."""
    if password is None or (case.known is not None and case.known.password == password):
        return case
    after = structs.replace(case.after, password=password)
    return structs.replace(case, after=after, values={**case.values, "password": password})


def _created(taking: Taking, case: _Case, standing: Standing | None) -> Prepared:
    assert standing is not None  # noqa: S101 - who is new gives out names
    payload = import_payload(taking, case.read)
    writes = new_users.writes_of(
        taking.service, case.after, standing.claims, taking.actor, **payload
    )
    return Prepared(
        action="create", id=case.after.id, writes=tuple(writes), problems=_warnings(case.row)
    )


async def _changed(
    taking: Taking, case: _Case, known: User, standing: Standing | None
) -> Prepared:
    id, service, after = known.id, taking.service, case.after
    if not case.values:
        return storing.left(USERS, known, id)
    values = {**case.values, **users.keys(after.user_name, after.email, after.profile)}
    if human_changes.ends_all(known, values):
        values["stamp"] = service.random.token(bits=64)
    try:
        also = await human_changes.besides(taking, known, values)
    except FailedPrecondition as refusal:
        return refused(id, problem(FieldProblem(refusal.slug, "user.state", refusal.message)))
    if standing is not None:
        also += standing.claims.writes(service)
    wanted = Wanted(
        id=id,
        collection=USERS,
        record=after,
        type="user",
        also=lambda *_: also,
        warnings=_warnings(case.row),
    )
    return storing.changed(taking, case.read, known, wanted, values)


def _warnings(row: PackagedHuman) -> tuple[Problem, ...]:
    if not row.request_passwordless_registration:
        return ()
    message = "is not honoured: no link is sent"
    return (storing.unheld("factor.unsupported", "user.requestPasswordlessRegistration", message),)


def _name(document: Any) -> Any:
    return document.get("userId", document.get("user_id"))


KINDS: Final = (
    Kind(
        member="humanUsers",
        type="human_user",
        request=HumanRow,
        name=_name,
        prepare=prepare,
        tell=tell,
    ),
)
