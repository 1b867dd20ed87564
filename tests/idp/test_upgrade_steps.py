"""What older programs have stored is brought to today's form, however often that is begun."""

from __future__ import annotations

from idp.records import USERS, Email, Profile, User
from idp.records.upgrades import add_search_keys
from storage import Insert
from tests.support.stored import everything


async def test_users_of_before_are_found_by_address_and_display_name(server):
    now = server.clock.now()
    old = User(
        id="old",
        org_id="o",
        kind="human",
        user_name="old",
        login_key="old",
        stamp="s",
        profile=Profile(display_name="Old Ｍan"),
        created_at=now,
        changed_at=now,
        email=Email(address="Old@old.example"),
    )
    await server.store.commit(Insert(USERS, old))

    await add_search_keys(server.store)

    user, after = await server.store.get(USERS, "old"), await everything(server.store)
    assert (user.address_key, user.display_key) == ("old@old.example", "old man")
    assert user.sequence == 1
    await add_search_keys(server.store)
    assert await everything(server.store) == after
