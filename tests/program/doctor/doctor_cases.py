"""What provokes each check of `idp doctor`, and what cures it: as a rule what it prints."""

from __future__ import annotations

import asyncio
import json
import shlex
from datetime import UTC, datetime, timedelta

from msgspec import structs

from idp.audit.event_types import STREAMS
from idp.doctor import upkeep
from idp.foundation.opaque_tokens import LASTS_UNTIL
from idp.policies import effective
from idp.records import (
    APP_KEYS,
    APPLICATIONS,
    AUDIT_HEADS,
    DEFERRED_WORK,
    DOMAINS,
    ORGANIZATIONS,
    PATS,
    POLICIES,
    USED_VALUES,
    USER_KEYS,
    USERS,
    AuditHead,
    DeferredWork,
    Email,
    LockoutRules,
    Organization,
    PersonalAccessToken,
    Policy,
    RegisteredKey,
    Totp,
    UsedValue,
    new_domain,
)
from storage import Delete, Insert, Update
from storage.sqlite import sweep
from tests.program.doctor import doctor_machine_cases, doctor_store_cases
from tests.support import patience
from tests.support.programs.doctor_place import by_commands
from tests.support.programs.in_process import run

NOW = datetime.now(UTC).replace(microsecond=0)


# Safety


def nothing(place):
    """A first start has it."""


def add_application(place, **changes):
    demo = place.one(APPLICATIONS)
    values = {
        "id": "shop",
        "name": "Shop",
        "redirect_uris": ["https://shop.example/cb"],
        "post_logout_redirect_uris": [],
        "requires_pkce": True,
        "is_dev_mode": False,
        "allowed_users": "own_organization",
    }
    place.write(Insert(APPLICATIONS, structs.replace(demo, **values | changes)))


def open_application(place):
    add_application(place, allowed_users="everybody")


def no_pkce(place):
    add_application(place, requires_pkce=False)


def implicit(place):
    grants, responses = ["authorization_code", "implicit"], ["code", "id_token"]
    add_application(place, grant_types=grants, response_types=responses)


def dev_mode(place):
    add_application(place, is_dev_mode=True)


def debug_mode(place):
    add_application(place, explains_until=datetime.now(UTC) + timedelta(hours=1))


def service_user(place):
    demo = place.one(USERS, user_name="demo")
    values = {"id": "script", "user_name": "script", "login_key": "script", "kind": "machine"}
    values |= {"email": None, "email_key": None, "address_key": None, "password": None}
    user = structs.replace(demo, **values)
    place.write(Insert(USERS, user))
    return user


def pat(place, **values):
    user = service_user(place)
    made = {"created_at": NOW, "expires_at": NOW + timedelta(days=900)} | values
    token = PersonalAccessToken(
        id="token", user_id=user.id, org_id=user.org_id, secret_hash="", stamps="", **made
    )
    place.write(Insert(PATS, token))


def endless_pat(place):
    pat(place, expires_at=LASTS_UNTIL)


def endless_user_key(place):
    user = service_user(place)
    key = RegisteredKey(
        id="key", owner_id=user.id, public="", created_at=NOW, expires_at=LASTS_UNTIL
    )
    place.write(Insert(USER_KEYS, key))


def endless_app_key(place):
    add_application(place)
    key = RegisteredKey(
        id="key", owner_id="shop", public="", created_at=NOW, expires_at=LASTS_UNTIL
    )
    place.write(Insert(APP_KEYS, key))


def unused_pat(place):
    pat(place, created_at=NOW - timedelta(days=91))


def second_factor(place, finding):
    user = place.one(USERS, user_name="admin@localhost")
    totp = Totp(sealed_secret="sealed", name="phone", created_at=NOW)
    place.write(Update(USERS, user.id, set={"totp": totp}))


def endless_lock(place):
    id = effective.policy_id(None, "lockout")
    rules = LockoutRules(max_password_attempts=5)
    made = Policy(id=id, kind="lockout", rules=rules, created_at=NOW, changed_at=NOW)
    place.write(Insert(POLICIES, made))


def foreign_name(place):
    organization = Organization(
        id="acme",
        name="Acme",
        name_key="acme",
        primary_domain="acme.example",
        stamp="",
        created_at=NOW,
        changed_at=NOW,
    )
    domain = new_domain("acme", "acme.example", NOW, is_verified=True)
    demo = place.one(USERS, user_name="demo")
    name = "max@acme.example"
    place.write(
        Insert(ORGANIZATIONS, organization),
        Insert(DOMAINS, domain),
        Update(USERS, demo.id, set={"user_name": name, "login_key": name}),
    )


def unproven_email(place):
    demo = place.one(USERS, user_name="demo")
    email = Email(address="demo@elsewhere.example", is_verified=True, verified_by="organization")
    place.write(Update(USERS, demo.id, set={"email": email}))


def verify_email(place, finding):
    (line,) = finding.commands
    words = shlex.split(line)[1:]
    sent = run(place.data.parent, *words, "--return-code", "--format", "json")
    assert sent.returncode == 0, sent.stderr
    code = json.loads(sent.stdout)["verificationCode"]
    place.command(f"idp user verify-email {words[2]} --verification-code {code}")


# Upkeep


def backlog(place):
    old = NOW - timedelta(days=2)
    replays = [
        [Insert(USED_VALUES, UsedValue(id=f"{n}", expires_at=old))]
        for n in range(upkeep.BACKLOG_WARNING_COUNT)
    ]
    with place.monkeypatch.context() as patch:
        patch.setattr(sweep.Sweeper, "remove_slice", lambda *_: None)
        place.store(lambda store: store.commit_each(replays))


def keep_running(place, finding):
    async def until_swept(store):
        async with asyncio.timeout(patience.SECONDS):
            n = 0
            while await store.count_overdue(up_to=1):
                n += 1
                await store.commit(
                    Insert(USED_VALUES, UsedValue(id=f"new {n}", expires_at=LASTS_UNTIL))
                )
                await asyncio.sleep(0)

    place.store(until_swept)


def deferred_work(place, age=timedelta(minutes=61)):
    values = {"kind": "project.deleted", "owner_id": "shop", "actor": "owner"}
    place.write(Insert(DEFERRED_WORK, DeferredWork(id="work", created_at=NOW - age, **values)))


def do_deferred_work(place, finding):
    assert finding.names == ["project.deleted: shop"]
    place.write(Delete(DEFERRED_WORK, "work"))


def coming_removal(place, days=20):
    """As after an upgrade."""
    place.store(lambda store: set_heads(store, removable_from=NOW + timedelta(days=days)))


async def set_heads(store, **fields):
    for name in STREAMS:
        if await store.get(AUDIT_HEADS, name) is None:
            await store.commit(Insert(AUDIT_HEADS, AuditHead(id=name)))
        await store.commit(Update(AUDIT_HEADS, name, set=fields))


def events_stay(place, finding):
    assert "access 400 days, failure 90 days" in finding.sentence
    place.settings |= {"audit_access_days": 0, "audit_failure_days": 0}


CASES = {
    **doctor_machine_cases.CASES,
    **doctor_store_cases.CASES,
    "registration.open": ("warn", nothing, by_commands),
    "applications.open": ("warn", open_application, by_commands),
    "applications.pkce": ("warn", no_pkce, by_commands),
    "applications.implicit": ("warn", implicit, by_commands),
    "applications.debug": ("warn", dev_mode, by_commands),
    "tokens.endless": ("warn", endless_pat, by_commands),
    "tokens.unused": ("warn", unused_pat, by_commands),
    "admins.two_factors": ("warn", nothing, second_factor),
    "lockout.endless": ("warn", endless_lock, by_commands),
    "names.foreign": ("warn", foreign_name, by_commands),
    "emails.unproven": ("warn", unproven_email, verify_email),
    "sweep.backlog": ("warn", backlog, keep_running),
    "jobs.late": ("warn", deferred_work, do_deferred_work),
    "events.retention": ("warn", coming_removal, events_stay),
}
