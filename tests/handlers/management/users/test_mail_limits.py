"""How many messages the managers of an organization may have sent: to one mailbox, and in all."""

from __future__ import annotations

import pytest

from handlers.forms import run_operation
from handlers.forms.run_operation import OperationRun
from idp import api
from idp.identity.users import permissions
from idp.management import mail_limits
from idp.records import OUTBOX, USERS, VERIFICATIONS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.service import use_settings
from tests.support.sign_in.people import PATH, create, person

STRANGER = "stranger@mouse.example"
VERIFIED = {"email": STRANGER, "isVerified": True}


@pytest.fixture
def managed(server, owner):
    """Makes an organization with a user manager and a person at an address."""
    owner.visitor.may_fail = True

    async def make(domain="acme.example", email=None):
        organization = await new_organization(server, domain)
        manager = await new_caller(server, owner.visitor, organization, "ORG_USER_MANAGER")
        person = {"username": domain, "email": email or {"email": STRANGER, "returnCode": {}}}
        made = await create(owner, organization={"orgId": organization.id}, **person)
        return manager, f"/v2/users/{made['userId']}"

    return make


async def stored(server):
    return [
        sorted([each.id async for each in server.store.scan(collection)])
        for collection in (OUTBOX, VERIFICATIONS)
    ]


async def mails_of(server):
    return (await stored(server))[0]


@pytest.mark.promise("security: mails of managers")
@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("email/resend", {}),
        ("email", {"email": "stranger+{}@mouse.example"}),
        ("invite_code", {}),
        ("invite_code/resend", {}),
    ],
)
async def test_a_manager_sends_twenty_messages_an_hour_to_a_mailbox(server, managed, call, body):
    manager, user = await managed()
    for n in range(20):
        assert (await manager.post(f"{user}/{call}", numbered(body, n))).status == 200
    before = await stored(server)

    page = await manager.post(f"{user}/{call}", numbered(body, 20))

    assert refused(page, 429, 8)[""] == "mail.mailbox_limit"
    assert int(page.headers["Retry-After"]) == 3600
    assert "20 messages" in page.json()["message"]
    assert await stored(server) == before
    server.clock.advance(3601)
    assert (await manager.post(f"{user}/{call}", numbered(body, 21))).status == 200


def numbered(body, n):
    """The body with a tag of its own in the address: an address that stays gets no message."""
    return {name: value.format(n) for name, value in body.items()}


async def test_what_is_refused_for_another_reason_counts_no_message(server, managed):
    manager, user = await managed()
    taken = person(email=None) | {"username": "acme.example", "email": {"email": STRANGER}}
    for _ in range(21):
        refused(await manager.post(PATH, taken), 409, 6)

    assert (await manager.post(f"{user}/email/resend", {})).status == 200


@pytest.mark.promise("security: mails of managers")
async def test_other_tags_other_calls_and_other_organizations_reach_no_further(server, managed):
    (manager, user), (other, elsewhere) = await managed(), await managed("other.example")
    calls = [(manager, f"{user}/invite_code", {}), (other, f"{elsewhere}/email/resend", {})]
    tagged = {"email": "stranger+1@mouse.example"}
    await manager.post(f"{user}/email", tagged)

    for caller, path, body in calls * 11:
        last = await caller.post(path, body)

    assert refused(last, 429, 8)[""] == "mail.mailbox_limit"
    assert len(await mails_of(server)) == 20


@pytest.mark.promise("security: mails of managers")
async def test_under_an_idempotency_key_nothing_is_stored_of_a_refused_call(server, managed):
    manager, user = await managed()
    for number in range(20):
        await manager.post(f"{user}/email/resend", {}, **{"Idempotency-Key": f"key-{number}"})
    before = await stored(server)

    pages = [
        await manager.post(f"{user}/email/resend", {}, **{"Idempotency-Key": "key-20"})
        for _ in range(2)
    ]

    assert [refused(each, 429, 8)[""] for each in pages] == ["mail.mailbox_limit"] * 2
    assert await stored(server) == before
    repeated = await manager.post(f"{user}/email/resend", {}, **{"Idempotency-Key": "key-3"})
    assert repeated.status == 200


@pytest.mark.promise("security: mails of managers")
async def test_the_pages_of_the_console_have_the_same_limit(server, managed):
    manager, address = await managed()
    caller = await server.store.get(USERS, manager.user_id)
    rights = await permissions.of_user(server.service, caller.id)
    resend = OperationRun(operation=api.users.RESEND_EMAIL, ids=[address.rpartition("/")[2]])
    for _ in range(20):
        await run_operation.run(server.service, caller, rights, resend)
    before = await stored(server)

    with pytest.raises(mail_limits.TooManyToMailbox):
        await run_operation.run(server.service, caller, rights, resend)

    assert await stored(server) == before


async def test_who_has_the_code_returned_is_not_limited(managed):
    manager, user = await managed()

    for _ in range(22):
        page = await manager.post(f"{user}/email/resend", {"returnCode": {}})

    assert page.status == 200


@pytest.mark.promise("security: mails of managers")
async def test_notices_of_changes_are_limited_and_no_code_takes_their_place(server, managed):
    manager, user = await managed(email=VERIFIED)
    for _ in range(20):
        await manager.post(f"{user}/invite_code", {})
    texts = [f"correct horse battery staple {number}" for number in range(21)]
    passwords = [{"newPassword": {"password": text}} for text in texts]
    pages = [await manager.post(f"{user}/password", each) for each in passwords]

    assert [each.status for each in pages] == [200] * 20 + [429]
    assert refused(pages[-1], 429, 8)[""] == "mail.mailbox_limit"


@pytest.mark.promise("security: mails of managers")
async def test_an_organization_sends_so_many_messages_a_day_and_no_other_one_is_limited(
    server, owner, managed
):
    (manager, user), (other, elsewhere) = await managed(), await managed("other.example")
    use_settings(server.service, organization_mails_per_day=3)
    addresses = [{"email": f"mouse{number}@mouse.example"} for number in range(4)]
    *sent, page = [await manager.post(f"{user}/email", each) for each in addresses]

    assert [each.status for each in sent] == [200] * 3
    assert refused(page, 429, 8)[""] == "mail.organization_limit"
    assert int(page.headers["Retry-After"]) == mail_limits.DAY.total_seconds()
    assert (await other.post(f"{elsewhere}/email", addresses[3])).status == 200
    assert (await owner.post(f"{user}/email", addresses[3])).status == 200


async def test_owners_of_the_installation_are_not_limited(owner, managed):
    _, user = await managed()

    for _ in range(22):
        page = await owner.post(f"{user}/email/resend", {})

    assert page.status == 200
