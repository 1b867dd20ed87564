"""Whatever the management API stores, an export tells and an import of another installation takes:
nothing is lost but what is known not to move."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import structs

from idp.management.connections import rules as connection_rules
from idp.records import (
    APPLICATIONS,
    CLIENT_ORIGINS,
    DOMAINS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PICTURES,
    POLICIES,
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USER_METADATA,
    USERS,
)
from tests.idp.transfer.calls.test_export_document import exported
from tests.support.management import allowed
from tests.support.management.api_samples import CALLS, address, bodies, called, filled, leaves
from tests.support.management.api_world import World
from tests.support.management.callers import instance_owner, new_organization
from tests.support.service import start_server, stop_server
from tests.support.transfer.bringing import brought

MOVED = (
    ORGANIZATIONS,
    DOMAINS,
    POLICIES,
    PICTURES,
    USERS,
    USER_METADATA,
    PROJECTS,
    APPLICATIONS,
    CLIENT_ORIGINS,
    PROJECT_ROLES,
    ROLE_ASSIGNMENTS,
    MEMBERSHIPS,
)
# Of each record its own installation's: when it was made and changed there, and what ends tokens.
STAMPS = {"stamp", "everybody_stamp", "granted_stamp", "no_role_stamp"}
OWN = {"created_at", "changed_at", "sequence", *STAMPS}
# Whatever would let somebody look on, and what has to be sealed anew.
OWN |= {"explains_until", "totp"}
LEFT_ALONE = (
    "_search",
    "_check",
    "_debug",
    "_end",
    "/verify",
    "_reset",
    "/resend",
    "/invite_code",
)
GUESSES = {"verificationCode", "currentPassword"}
# What the others leave nothing behind for.
REFUSED = {
    "POST /management/v1/orgs/me/_reactivate",
    "POST /management/v1/projects/{projectId}/apps/{appId}/api_config/_generate_client_secret",
}
# What is not good practice is told again, and a connection comes without its secret.
JUDGED = ("oidc_app", "api_app", "connection")
MAKING = [
    call
    for name, call in CALLS.items()
    if call.method in ("POST", "PUT")
    and (not call.path.startswith("/admin/") or call.path == "/admin/v1/orgs/_setup")
    and not call.path.startswith("/v2/features")
    and not any(word in name for word in LEFT_ALONE)
    and name != "POST /v2/users"
]


class Worlds(World):
    """One world after the other: whatever a call sets once for an organization stays its own."""

    async def next(self):
        self.own = self.other = await new_organization(
            self.server, f"{self.new_name('w')}.example"
        )
        self.here = {"x-idp-orgid": self.own.id}
        self.project = await self.made("/management/v1/projects", "id", name="P")
        apps = f"/management/v1/projects/{self.project}/apps"
        self.app = await self.made(f"{apps}/oidc", "appId", name="A")
        self.api = await self.made(f"{apps}/api", "appId", name="B")
        self.machine = self.user = await self.new_machine()
        self.members = [await self.new_machine() for _ in range(2)]
        self.names = {"project": self.project, "role": await self.new_role(), "org": self.own.id}

    async def ask(self, call, body):
        """Whether the call is answered, with this body put in for the sample's."""
        await self.server.service.background_tasks.finished()
        ids = await self.ids(call)
        self.n += 1
        put_in = {**self.names, "n": f"v{self.n}", "member": self.members[self.n % 2]}
        sent = filled(body, issuer=self.server.issuer, **put_in)
        page = await self.owner.request(call.method, address(call, **ids), sent, **self.here)
        assert page.status < 500, (called(call), sent, page.text)
        return page.status == 200


def asked(call):
    """All that is sent to one call: a field's name and a body, its samples first."""
    if not bodies(call):
        return [("", None)]
    samples = [body for body in bodies(call) if not GUESSES & body.keys()]
    changed = []
    for n, body in enumerate(samples):
        earlier = {path for each in samples[:n] for path in said(each)}
        changed += [
            (field, each)
            for field, each in allowed.variants(call.request, body)
            if field not in GUESSES and (n == 0 or field in said(body) - earlier)
        ]
    return [*(("", body) for body in samples), *changed]


def said(body):
    """The fields that a body has, with their paths."""
    return {path.partition("[")[0] for path, _ in leaves(body)}


def rounds(step):
    """What is asked of each world. Of calls that set something of the organization's, or of an
    application's, each has a world of its own: they would replace what another one has set."""
    lanes = {}
    for call in MAKING:
        lanes.setdefault(call.path, []).extend((call, *each) for each in asked(call))
    for path, lane in lanes.items():
        samples = [each for each in lane if not each[1]]
        kept = samples + [each for each in lane if each[1]][::step]
        size = 16 if makes_anew(path, lane) else 1
        lanes[path] = [kept[at : at + size] for at in range(0, len(kept), size)]
    for n in range(max(map(len, lanes.values()))):
        yield [each for lane in lanes.values() if n < len(lane) for each in lane[n]]


def makes_anew(path, lane):
    """Whether the calls make something, or have something made for them alone."""
    makes = {call.method for call, *_ in lane} == {"POST"} and "policies" not in path
    return makes or "{userId}" in path


@pytest.fixture
def other(io_loop, server):
    """Another installation."""
    made, http = io_loop.run_sync(lambda: start_server(server.clock))
    yield made
    io_loop.run_sync(lambda: stop_server(made, http))


@pytest.mark.promise("export: custom policies")
@pytest.mark.full
@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.load)])
@pytest.mark.gen_test(timeout=3600)
async def test_whatever_can_be_stored_moves(server, other, visitor, monkeypatch, step):
    # Every world makes connections of the installation, too.
    monkeypatch.setattr(connection_rules, "MAX_CONNECTIONS", 10_000)
    owner = await instance_owner(server, visitor)
    worlds, taken = Worlds(server, visitor, owner), Counter()
    for round in rounds(step):
        await worlds.next()
        for call, field, body in round:
            taken[called(call), field] += await worlds.ask(call, body)
    first = await moving(server)

    outcomes = await brought(other, *first)

    assert not [
        (each.type, each.id, [(one.error_code, one.field, one.message) for one in each.problems])
        for each in outcomes
        if each.action == "fail" or (each.problems and each.type not in JUDGED)
    ]
    assert await moving(other) == first
    assert await records(other, first) == await records(server, first)
    assert {name for name in map(called, MAKING) if not taken[name, ""]} <= REFUSED
    assert sum(taken.values()) > sum(map(len, map(asked, MAKING))) / step / 2


async def moving(server):
    everything = await exported(server, seconds=600, with_passwords=True, with_otp=True)
    return [each for each in everything["orgs"] if each["org"]["name"] != "Default"]


async def records(server, orgs):
    """The records of these organizations, but for what is each installation's own."""
    ids = {each["orgId"] for each in orgs}
    users = {each.id async for each in server.store.scan(USERS) if each.org_id in ids}
    return {
        collection.name: sorted(
            [
                plain(each)
                async for each in server.store.scan(collection)
                if within(each, ids, users)
            ],
            key=repr,
        )
        for collection in MOVED
    }


def within(record, ids, users):
    if hasattr(record, "org_id"):
        return record.org_id in ids
    return getattr(record, "user_id", record.id) in users | ids or hasattr(record, "client_id")


def plain(record):
    values = {name: value for name, value in structs.asdict(record).items() if name not in OWN}
    if values.get("password") is not None:  # nobody knows how long it is by its hash
        values["password"] = structs.replace(values["password"], is_long=None)
    return values
