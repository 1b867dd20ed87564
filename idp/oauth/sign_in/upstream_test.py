"""The test of a connection: a sign-in by it that runs the code of every other one, and ends before
anything is written for the person.

It is possible with a connection that is inactive, or that no page offers.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from idp.foundation import i18n, logs, uris
from idp.oauth.sign_in import upstream_account, upstream_departure, upstream_return
from idp.oauth.sign_in.upstream_account import CreationRefused
from idp.oauth.sign_in.upstream_departure import Departure
from idp.records import INSTANCE_ID, INSTANCES
from idp.records.connection_tests import CONNECTION_TESTS, ConnectionTest
from idp.records.connections import CONNECTIONS, ProviderConnection
from idp.service import Service
from idp.upstream import attempts, connection_tests, identities, links
from idp.upstream.attempts import Attempt
from idp.upstream.connection_tests import NameProblem, TestResult
from idp.upstream.identities import Identity
from idp.upstream.oidc import answers, provider
from idp.upstream.oidc.answers import UpstreamAnswer
from idp.upstream.refused import UpstreamRefused, owner_details
from storage import Stale

_NO_CONNECTION: Final = "the connection was deleted"
_log = logs.logger(__name__)


async def connection_of(service: Service, test: ConnectionTest) -> ProviderConnection | None:
    """Returns the connection of a test; None if it was deleted, also if another one has its id
    now."""
    connection = await service.store.get(CONNECTIONS, test.connection_id)
    is_there = connection is not None and connection_tests.is_of(test, connection)
    return connection if is_there else None


async def leave(
    service: Service, test: ConnectionTest, cookie: str | None, languages: str
) -> Departure | None:
    """Returns the redirect to the provider of a test's connection. `cookie` is the one with the
    attempts, as it was sent.

    None if the provider can't be used: this is the result of the test then. Raises Stale if the
    test is used up.
    """
    try:
        connection = await _connection(service, test)
        target = await provider.find(service, connection)
        attempt = _attempt(service, test, connection)
        value = attempts.cookie_with(service, cookie, attempt)
        if value is None:
            raise UpstreamRefused("connection_usable", "the attempt is too long for a cookie")
    except UpstreamRefused as refused:
        await connection_tests.use(service, test)
        await _finish(service, test, TestResult(), refused)
        return None
    parameters = upstream_departure.request_parameters(service, connection, attempt)
    parameters.append(("ui_locales", languages))
    return Departure(uris.with_parameters(target.authorization_endpoint, parameters), value)


def _attempt(service: Service, test: ConnectionTest, connection: ProviderConnection) -> Attempt:
    now = service.clock.now()
    return Attempt(
        state=service.random.token(),
        nonce=service.random.token(),
        verifier=service.random.token(),
        connection_id=connection.id,
        stamp=connection.stamp,
        flow="",
        start="",
        browser_id="",
        begun_at=int(now.timestamp()),
        ends_at=int(min(now + attempts.LIFETIME, test.ends_at).timestamp()),
        test_id=test.id,
    )


async def find(service: Service, attempt: Attempt) -> ConnectionTest | None:
    """Returns the test that an attempt belongs to; None if it has expired."""
    test = await service.store.get(CONNECTION_TESTS, attempt.test_id)
    if test is None or test.connection_id != attempt.connection_id:
        return None
    return test


async def finish_with_answer(
    service: Service, test: ConnectionTest, attempt: Attempt, answer: UpstreamAnswer
) -> None:
    """Uses a test up with the provider's answer, and stores what a sign-in would have done. Raises
    Stale if the test is used up already."""
    await connection_tests.use(service, test)
    result = TestResult()
    try:
        connection = await _connection(service, test)
        answers.check_unchanged(connection, attempt)
        stated = await answers.stated_claims(service, connection, attempt, answer)
        result = TestResult(
            claims=connection_tests.received(stated),
            values=connection_tests.found_values(connection, stated),
            authority=connection.authority,
            email_trust=identities.email_trust(connection, stated.merged),
        )
        identity = answers.identity_of(service, connection, attempt, stated)
        result = structs.replace(result, external_id=identity.external_id)
        result = await _decided(service, connection, identity, result)
    except UpstreamRefused as refused:
        await _finish(service, test, result, refused)
    else:
        await connection_tests.finish(service, test, result)


async def _connection(service: Service, test: ConnectionTest) -> ProviderConnection:
    connection = await connection_of(service, test)
    if connection is None:
        raise UpstreamRefused("connection_usable", _NO_CONNECTION)
    return connection


async def _finish(
    service: Service, test: ConnectionTest, result: TestResult, refused: UpstreamRefused
) -> None:
    _log.info("test of a connection refused", check=refused.check, cause=refused.details)
    result = structs.replace(result, check=refused.check, details=owner_details(refused))
    await connection_tests.finish(service, test, result)


async def _decided(
    service: Service, connection: ProviderConnection, identity: Identity, result: TestResult
) -> TestResult:
    """Returns the result with what a sign-in of this identity would do. Raises
    UpstreamRefused."""
    link = await links.find(service, identity)
    if link is not None:
        subject = await upstream_return.linked_subject(service, connection, link)
        return structs.replace(
            result, outcome="sign_in", user_id=subject.user.id, org_id=subject.organization.id
        )
    org_id = connection.org_id or await _org_of_instance(service)
    waiting = await upstream_account.with_organization(service, connection, identity, org_id)
    may_create = waiting.organization is not None
    may_link = connection.options.is_linking_allowed
    result = structs.replace(
        result,
        outcome="ask" if may_create or may_link else "refuse",
        org_id=org_id,
        may_create=may_create,
        may_link=may_link,
    )
    try:
        automatic = await upstream_account.automatic_user(service, waiting)
    except CreationRefused as refusal:
        return structs.replace(result, problems=_problems(refusal))
    return result if automatic is None else structs.replace(result, outcome="create")


def _problems(refusal: CreationRefused) -> list[NameProblem]:
    english = i18n.load(i18n.SOURCE)
    return [NameProblem(each.field or "", english.text(each.text)) for each in refusal.problems]


async def _org_of_instance(service: Service) -> str:
    """Returns the organization to whose applications a test by a connection of the installation
    signs in: that of the installation."""
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        raise Stale(INSTANCES.name, INSTANCE_ID)
    return instance.org_id
