"""What a script registers, call by call. Who repeats a call that had been done is told so."""

from __future__ import annotations

import base64
import json

from idp.records import ORGANIZATIONS, USER_METADATA, USERS
from tests.fire.run import Run
from tests.support.browsers.visitor import Page
from tests.support.management.api_samples import MACHINES, PROJECTS
from tests.support.management.callers import Caller, new_caller


async def a_script_registers_what_it_needs(run: Run) -> None:
    """A project with a role, a service user who has it, and all that it proves itself by."""
    run.is_safe_from_here()
    script = await owner(run)
    run.is_in_danger_from_here()
    project = done(await script.post(PROJECTS, {"name": "Shop"}))["id"]
    roles = f"{PROJECTS}/{project}/roles"
    for key in ("buyer", "seller"):
        done(await script.post(roles, {"roleKey": key, "displayName": key}), run, 409)
    user = await service_user(run, script)
    body = {"projectId": project, "roleKeys": ["buyer", "seller"]}
    done(await script.post(f"{user}/grants", body), run, 409)
    run.keep(done(await script.request("PUT", f"{user}/secret", {}))["clientSecret"])
    key = done(await script.post(f"{user}/keys", {}))
    run.keep(json.loads(base64.b64decode(key["keyDetails"]))["key"].splitlines()[1])
    done(await script.post(f"{user}/metadata/shoes", {"value": "cmVk"}))
    done(await script.request("DELETE", f"{roles}/seller", None), run, 404)
    done(await script.request("DELETE", f"{user}/keys/{key['keyId']}", None), run, 404)
    done(await script.post(f"/v2/users/{user.rpartition('/')[2]}/deactivate", {}), run, 400)
    run.is_safe_from_here()

    (grant,) = done(await script.get(f"{user}/grants"))["result"]
    assert grant["roleKeys"] == ["buyer"]


async def an_application_is_changed(run: Run) -> None:
    """It is registered, configured anew, and gets another secret and an algorithm of its own."""
    run.is_safe_from_here()
    script = await owner(run)
    project = done(await script.post(PROJECTS, {"name": "Shop"}))["id"]
    run.is_in_danger_from_here()
    apps = f"{PROJECTS}/{project}/apps"
    made = done(await script.post(f"{apps}/oidc", {"name": "Web shop"}))
    run.keep(made["clientSecret"])
    app = f"{apps}/{made['appId']}"
    settings = {
        "redirectUris": ["https://shop.example/cb"],
        "additionalOrigins": ["https://admin.shop.example"],
        "idTokenSignedResponseAlg": "EdDSA",
    }
    done(await script.request("PUT", f"{app}/oidc_config", settings))
    secret = done(await script.post(f"{app}/oidc_config/_generate_client_secret", {}))
    run.keep(secret["clientSecret"])
    run.is_safe_from_here()

    shown = done(await script.get(app))["app"]["oidcConfig"]
    assert settings.items() <= shown.items()


async def a_person_is_changed_and_deleted(run: Run) -> None:
    """They get another name, address and password, and then go with all that hangs on them."""
    run.is_safe_from_here()
    script = await owner(run)
    email = {"email": "mini@mouse.example", "isVerified": True}
    body = {
        "username": "mini",
        "profile": {"givenName": "Mini", "familyName": "Mouse"},
        "email": email,
        "metadata": [{"key": "shoes", "value": "cmVk"}],
    }
    person = f"/v2/users/{done(await script.post('/v2/users/human', body))['userId']}"
    run.is_in_danger_from_here()
    named = {"username": "minnie@localhost"}
    done(await script.request("PUT", person.replace("users/", "users/human/"), named))
    done(await script.post(f"{person}/email", email | {"email": "minnie@mouse.example"}))
    new = {"newPassword": {"password": "a lamp in the attic"}}
    done(await script.post(f"{person}/password", new), run, 400)
    done(await script.request("DELETE", person, None), run, 404)
    run.is_safe_from_here()

    found = [await run.place.store.get(USERS, person.rpartition("/")[2])]
    assert found == [None]
    assert not [one async for one in run.place.store.scan(USER_METADATA)]


async def owner(run: Run) -> Caller:
    """A service user who may do everything."""
    home = await run.place.store.find(ORGANIZATIONS, {"primary_domain": "localhost"})
    script = await new_caller(
        run.place, run.browser, home.records[0], "IAM_OWNER", everywhere=True
    )
    run.keep(script.token or "")
    return script


async def service_user(run: Run, script: Caller) -> str:
    """The address of a new one; who has lost the answer looks it up by its name."""
    name = f"nightly-{run.place.service.random.id()}".casefold()
    page = await script.post(MACHINES, {"userName": name, "name": "Nightly script"})
    done(page, run, 409)
    found = await run.place.store.find(USERS, {"login_key": name})
    return f"/management/v1/users/{found.records[0].id}"


def done(page: Page, run: Run | None = None, again: int = 200) -> dict:
    """The answer. A call that had been done before its answer was lost is answered by `again`."""
    assert page.status == (again if run and run.was_done else 200), page.text
    return page.json()
