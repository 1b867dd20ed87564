"""Calls with an Idempotency-Key are killed at their writes and repeated: each is done once, and
whoever repeats it gets its answer."""

from __future__ import annotations

import base64
import json
from itertools import count

import pytest

from idp.records import APPLICATIONS, PATS, PROJECTS, USER_KEYS, USERS
from tests.fire.managing import done, owner
from tests.fire.run import Run, tell
from tests.support.management.api_samples import MACHINES
from tests.support.management.api_samples import PROJECTS as PATH

KILLS = 200


async def a_script_repeats_its_calls_under_keys(run: Run) -> None:
    """What it makes is there once, and every answer is 200 with the same ids."""
    run.is_safe_from_here()
    script, numbers = await owner(run), count()
    tag = run.place.service.random.id()

    async def call(path: str, body: object, method: str = "POST") -> dict:
        key = f"{tag}-{next(numbers)}"
        answer = done(await script.request(method, path, body, Idempotency_Key=key))
        again = await script.request(method, path, body, Idempotency_Key=key)
        assert (done(again), again.headers["Idempotency-Replayed"]) == (answer, "true")
        return answer

    run.is_in_danger_from_here()
    project = (await call(PATH, {"name": tag}))["id"]
    await call(f"{PATH}/{project}/roles", {"roleKey": "buyer", "displayName": "Buyer"})
    app = await call(f"{PATH}/{project}/apps/oidc", {"name": "Web shop"})
    run.keep(app["clientSecret"])
    user = (await call(MACHINES, {"userName": f"nightly-{tag}", "name": tag}))["userId"]
    at = f"/management/v1/users/{user}"
    run.keep((await call(f"{at}/pats", {}))["token"])
    key = await call(f"{at}/keys", {})
    run.keep(json.loads(base64.b64decode(key["keyDetails"]))["key"].splitlines()[1])
    run.keep((await call(f"{at}/secret", {}, "PUT"))["clientSecret"])
    await call(f"/v2/users/{user}/deactivate", {})
    await call(f"{PATH}/{project}/_deactivate", {})
    await call(f"{PATH}/{project}/roles/buyer", None, "DELETE")
    run.is_safe_from_here()

    store = run.place.store
    made = [one.id async for one in store.scan(PROJECTS) if one.name == tag]
    users = [one.id async for one in store.scan(USERS) if one.profile.display_name == tag]
    assert (made, users) == ([project], [user])
    assert [one.id async for one in store.scan(APPLICATIONS, {"project_id": project})] == [
        app["appId"]
    ]
    assert len((await store.find(PATS, {"user_id": user}, limit=9)).records) == 1
    assert len((await store.find(USER_KEYS, {"owner_id": user}, limit=9)).records) == 1


@pytest.mark.promise("faults: Idempotency-Key")
async def test_a_call_with_a_key_that_is_killed_is_done_once_and_answered(new_ground):
    ground = new_ground()
    await ground.start()
    for crash in ("before 1", "after 1", "after 5"):
        assert (await tell(ground, a_script_repeats_its_calls_under_keys, crash)).died_in
    ground.program.stop()

    assert ground.kills == 3


@pytest.mark.promise("faults: Idempotency-Key")
@pytest.mark.load
@pytest.mark.gen_test(timeout=1800)
async def test_two_hundred_kills_of_calls_with_keys_leave_no_duplicate(
    new_ground, record_property
):
    kills = 0
    while kills < KILLS:
        ground = new_ground()
        await ground.start()
        for n in count(1):
            before = await tell(ground, a_script_repeats_its_calls_under_keys, f"before {n}")
            after = await tell(ground, a_script_repeats_its_calls_under_keys, f"after {n}")
            if before.died_in is None and after.died_in is None:
                break
        ground.program.stop()
        kills += ground.kills

    record_property("counts", f"{kills} kills")
