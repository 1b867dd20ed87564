"""The kind of rows `machineUsers`: service users, with the ids that they have in another
system.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import structs

from idp.credentials import client_secrets
from idp.foundation.cooperative import in_turns
from idp.identity.users import lookup as user_lookup
from idp.management.users.new_user import UserId
from idp.management.users.service_users import TOKEN_TYPES
from idp.records import USERS, Organization, Profile, User
from idp.schema.field_rules import Name, OneOf, Text, UserName
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, packaged_secrets
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.packaged_secrets import EndingSecret, HashedSecret
from idp.transfer.kinds.users import user_rows
from idp.transfer.kinds.users.human_request import STATES
from idp.transfer.kinds.users.user_rows import UserCase, UserTarget
from idp.transfer.package.rows import ParsedRow, RowPlan

_STATES: Final = {state: name for name, state in STATES.items()}
_TOKEN_TYPES: Final = {kind: name for name, kind in TOKEN_TYPES.items()}


class PackagedMachine(Request, frozen=True, kw_only=True):
    user_name: Annotated[str, UserName()]
    name: Name
    description: Annotated[str, Text()] = ""
    access_token_type: Annotated[str, OneOf(tuple(TOKEN_TYPES))] = "ACCESS_TOKEN_TYPE_BEARER"  # noqa: S105
    state: Annotated[str, OneOf(tuple(STATES))] | None = None
    hashed_secret: HashedSecret | None = None
    previous_secret: EndingSecret | None = None

    def secrets(self) -> dict[str, Any]:
        """Returns the fields of the user's record that hold the digests of its secrets, as a
        dict."""
        return packaged_secrets.record_fields(self.hashed_secret, self.previous_secret)


class MachineRow(Request, frozen=True, kw_only=True):
    user_id: Annotated[str, UserId()]
    user: PackagedMachine


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of service users (`RowKind.plan`): new ones are created; existing ones are
    skipped or, if the import updates records, updated.
    """
    cases = [
        _case(context, each) if isinstance(each, UserTarget) else each
        # Other tasks of the event loop run in between: a batch may have a thousand rows.
        async for each in in_turns(await user_rows.find_targets(context, parsed_rows, "machine"))
    ]
    return [
        await _plan(context, each) if isinstance(each, UserCase) else each
        async for each in in_turns(await user_rows.with_names(context, cases))
    ]


def _case(context: ImportContext, target: UserTarget) -> UserCase:
    if target.stored is None:
        return user_rows.creation(target, _new(context, target.organization, target.parsed))
    return user_rows.update(target, target.stored, _fields(target.stored, target.parsed))


async def _plan(context: ImportContext, case: UserCase) -> RowPlan:
    if problems := case.problems:
        return user_rows.refusal(case, problems)
    forgotten = client_secrets.last_use_deletions(case.stored, case.after) if case.stored else []
    return await user_rows.plan(context, case, forgotten)


def _row(parsed: ParsedRow) -> MachineRow:
    assert isinstance(parsed.request, MachineRow)  # noqa: S101 - for mypy
    return parsed.request


def _new(context: ImportContext, organization: Organization, parsed: ParsedRow) -> User:
    service, row = context.service, _row(parsed)
    now, profile = service.clock.now(), Profile(display_name=row.user.name)
    return User(
        id=row.user_id,
        org_id=organization.id,
        kind="machine",
        user_name=row.user.user_name,
        stamp=service.random.token(bits=64),
        profile=profile,
        created_at=now,
        changed_at=now,
        state=STATES[row.user.state] if row.user.state else "active",
        description=row.user.description or None,
        access_token_type=TOKEN_TYPES[row.user.access_token_type],
        **row.user.secrets(),
        **user_lookup.keys(row.user.user_name, None, profile, organization.id),
    )


def _fields(stored: User, parsed: ParsedRow) -> Mapping[str, object]:
    """Returns the fields that the row sets of an existing user."""
    row = _row(parsed).user
    return {
        "user_name": row.user_name,
        "profile": structs.replace(stored.profile, display_name=row.name),
        "description": row.description or stored.description,
        "access_token_type": TOKEN_TYPES[row.access_token_type],
        "state": STATES[row.state] if row.state else stored.state,
        **row.secrets(),
    }


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each service user of the organization, in the order of user names."""
    # All users are read and the persons skipped, because an index by kind would make large
    # imports slower.
    where = {"org_id": organization.id}
    async for user in export_iteration.records(context.view, USERS, where, order="login_key"):
        if user.kind == "machine":
            yield {"userId": user.id, "user": _exported(context, user)}


def _exported(context: ExportContext, user: User) -> dict[str, Any]:
    secrets = packaged_secrets.exported(user) if context.with_passwords else {}
    return export_iteration.non_empty(
        {
            "userName": user.user_name,
            "name": user.profile.display_name,
            "description": user.description,
            "accessTokenType": _TOKEN_TYPES[user.access_token_type],
            "state": _STATES[user.state],
            **secrets,
        }
    )


KINDS: Final = (
    RowKind(
        member="machineUsers",
        type="machine_user",
        request=MachineRow,
        name=named("userId"),
        identity=("userId",),
        plan=plan_rows,
        is_independent=True,
        export=export,
    ),
)
