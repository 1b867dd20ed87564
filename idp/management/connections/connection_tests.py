"""Calls that test a connection: a person signs in at its provider, and no user is changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import structs

from idp.changes import Change
from idp.foundation.errors import NotFound
from idp.management.call import Call
from idp.management.connections import check, read
from idp.oauth.refusals import upstream as upstream_checks
from idp.records.connection_tests import CONNECTION_TESTS, ConnectionTest
from idp.records.connections import ClaimMapping
from idp.schema.answers import Answer
from idp.service import Service
from idp.upstream import connection_tests
from idp.upstream.connection_tests import TestResult

# A test is made also of a connection that is inactive, or that no page offers.
_SAYS: Final[Mapping[str, str]] = {
    "connection_usable": "the connection has not been changed since the sign-in began"
}
MAX_TESTS: Final = 10  # of the connections of an owner, in a minute
# The names of the mapping's fields on the wire.
_FIELDS: Final[Mapping[str, str]] = {
    name: name.split("_")[0] + "".join(part.title() for part in name.split("_")[1:])
    for name in ClaimMapping.__struct_fields__
}


class ConnectionTestStarted(Answer, frozen=True, kw_only=True):
    """`url` is the page from which a browser begins the test, once, until `expires`."""

    test_id: str
    url: str
    expires: datetime


class SignInCheck(Answer, frozen=True, kw_only=True):
    """A check of the sign-in: its name, its outcome (`passed`, `failed`, or `unknown` where it was
    not reached), what it says, what was found, and how to fix a failure."""

    name: str
    outcome: str
    says: str
    details: str = ""
    fix: str = ""


class StatedClaim(Answer, frozen=True, kw_only=True):
    """A claim that the provider has stated: its value as JSON, of at most 500 characters, and
    whether it is in the `id_token` or from `userinfo`."""

    name: str
    value: str
    source: str


class MappedField(Answer, frozen=True, kw_only=True):
    """The value of a user's field, and the claim or JSON pointer that it comes from."""

    field: str
    value: str
    claim: str


class NewUserProblem(Answer, frozen=True, kw_only=True):
    """Why a user is not created without a page: the field, if it is one, and the reason."""

    field: str = ""
    reason: str


class SignInDecision(Answer, frozen=True, kw_only=True):
    """What a sign-in would have done: `sign_in` the user `userId`, who is linked; `create` a user
    in the organization `orgId`; `ask` the person for an account, which they may create or link; or
    `refuse`. `problems` say why no user is created without a page."""

    outcome: str
    user_id: str = ""
    org_id: str = ""
    may_create: bool = False
    may_link: bool = False
    problems: list[NewUserProblem] = []


class ConnectionTestFound(Answer, frozen=True, kw_only=True):
    """`state` is `waiting` for a browser, `running`, `finished` or `expired`. The other members
    are those of a finished test, for a day. `emailTrust` is `trusted` if the address is
    verified, or the reason why it is not: `none`, `other_claim`, `not_verified`,
    `domain_not_trusted` or `hosted_domain`."""

    test_id: str
    state: str
    creation_date: datetime
    expires: datetime
    checks: list[SignInCheck] = []
    claims: list[StatedClaim] = []
    fields: list[MappedField] = []
    authority: str = ""
    external_id: str = ""
    email_trust: str = ""
    decision: SignInDecision | None = None


async def start(
    service: Service, call: Call, connection_id: str, *, is_instance: bool
) -> Change[ConnectionTestStarted]:
    """Starts the test of a connection, also of an inactive one. It can be begun once, by anyone
    with its address.

    Raises NotFound, TooMany.
    """
    connection = await read.find(service, call, connection_id, is_instance=is_instance)
    await check.admit(service, connection, "tests", MAX_TESTS)
    return connection_tests.new(service, connection, call.actor).map(
        lambda new: ConnectionTestStarted(test_id=new[0].id, url=new[1], expires=new[0].ends_at)
    )


async def show(
    service: Service, call: Call, connection_id: str, test_id: str, *, is_instance: bool
) -> ConnectionTestFound:
    """Returns the state of a test and, once it is finished, its result. Raises NotFound."""
    connection = await read.find(service, call, connection_id, is_instance=is_instance)
    test = await service.store.get(CONNECTION_TESTS, test_id)
    if test is None or not connection_tests.is_of(test, connection):
        message = "there is no such test of the connection"
        raise NotFound(message, error_code="connection.test_not_found")
    return _view(service, test)


def _view(service: Service, test: ConnectionTest) -> ConnectionTestFound:
    result = connection_tests.result_of(service, test)
    found = ConnectionTestFound(
        test_id=test.id,
        state=connection_tests.state_of(service, test),
        creation_date=test.created_at,
        expires=test.ends_at,
    )
    return found if result is None else _with_result(found, result)


def _with_result(found: ConnectionTestFound, result: TestResult) -> ConnectionTestFound:
    return structs.replace(
        found,
        checks=_checks(result),
        claims=[
            StatedClaim(name=each.name, value=each.value, source=each.source)
            for each in result.claims
        ],
        fields=[
            MappedField(field=_FIELDS[each.field], value=each.value, claim=each.source)
            for each in result.values
        ],
        authority=result.authority,
        external_id=result.external_id,
        email_trust=result.email_trust or "",
        decision=_decision(result),
    )


def _checks(result: TestResult) -> list[SignInCheck]:
    """Returns the checks in their order. Those after one that has failed are not reached."""
    checks, outcome = list[SignInCheck](), "passed"
    for each in upstream_checks.CHECKS:
        says = _SAYS.get(each.name, each.says)
        if each.name == result.check:
            checks.append(
                SignInCheck(
                    name=each.name,
                    outcome="failed",
                    says=says,
                    details=result.details,
                    fix=each.fix,
                )
            )
            outcome = "unknown"
        else:
            checks.append(SignInCheck(name=each.name, outcome=outcome, says=says))
    return checks


def _decision(result: TestResult) -> SignInDecision:
    return SignInDecision(
        outcome=result.outcome,
        user_id=result.user_id,
        org_id=result.org_id,
        may_create=result.may_create,
        may_link=result.may_link,
        problems=[NewUserProblem(field=each.field, reason=each.text) for each in result.problems],
    )
