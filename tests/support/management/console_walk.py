"""All pages of the console's table of routes, with their forms filled in."""

from __future__ import annotations

import re
from base64 import b64decode
from datetime import timedelta
from itertools import count
from urllib.parse import quote

from handlers.console import ROUTES
from handlers.console.applications import trials as application_trials
from handlers.console.applications import wizard as application_wizard
from handlers.console.base import ConsoleHandler
from handlers.console.policies import page_texts, pictures, preview
from handlers.console.sections import CONSOLE
from handlers.console.users import bulk
from idp import api
from idp.identity.users import memberships
from idp.records import USERS
from tests.support.management.api_samples import address
from tests.support.management.console import sign_in, token
from tests.support.samples import policies

# The pages with a form of their own, and the permission that it takes. A new one stands here, too.
FORMS_BY_HAND = {
    application_wizard.WizardHandler: "project.app.write",
    application_trials.SignInTestHandler: "project.app.read",
    pictures.ConsolePictureHandler: "policy.write",
    pictures.InstallationPictureHandler: "iam.write",
    page_texts.PageTextsHandler: "policy.write",
    page_texts.InstallationPageTextsHandler: "iam.write",
    preview.PreviewHandler: "policy.read",
    preview.InstallationPreviewHandler: "iam.read",
    bulk.BulkHandler: "user.write",
}
# What the addresses of pages that are no actions name, by the part before it.
NAMES = {
    "organizations": "orgId",
    "users": "userId",
    "service-users": "userId",
    "projects": "projectId",
    "applications": "appId",
    "groups": "groupId",
    "connections": "idpId",
    "tests": "testId",
    "imports": "jobId",
    "pictures": "picture",
}
# What is made for a page that shows it, by the name in its address, and the operations that read
# it in an organization and in the installation.
SHOWN = {
    "jobId": (api.imports.READ_JOB, api.imports.READ_JOB),
    "groupId": (api.groups.READ, api.groups.READ),
    "testId": (
        api.connections.OF_ORGANIZATION.test_result,
        api.connections.OF_INSTANCE.test_result,
    ),
    "idpId": (api.connections.OF_ORGANIZATION.read, api.connections.OF_INSTANCE.read),
}
PNG = b64decode(policies.PNG)
_HOLE = re.compile(r"\([^)]*\)")


def _named(pattern: str) -> str:
    """The address of a page that is no action, with names for what varies in it."""
    parts = _HOLE.sub("{}", pattern).split("/")
    return "/".join(
        f"{{{NAMES[before]}}}" if part == "{}" else part
        for before, part in zip(["", *parts], parts, strict=False)
    )


def _pages():
    """Each page by its address: its handler, and its action if it is one."""
    for pattern, handler, *more in ROUTES:
        if not issubclass(handler, ConsoleHandler):
            continue  # a redirect
        action = more[0].get("action") if more else None
        yield CONSOLE + action.path if action else _named(pattern), (handler, action)


PAGES = dict(_pages())
ACTIONS = {path: action for path, (_, action) in PAGES.items() if action is not None}
# The pages that do something with what they are sent.
FORMS = [
    path for path, (handler, _) in PAGES.items() if handler.submit is not ConsoleHandler.submit
]


def permission_of(path: str) -> str | None:
    """The permission that the form at this address takes; None where there is no form."""
    handler, action = PAGES[path]
    return action.operation.permission if action else FORMS_BY_HAND.get(handler)


class Person:
    """A user who is signed in to the console with a browser of their own."""

    def __init__(self, walker, visitor, user_id):
        self.walker, self.visitor, self.user_id = walker, visitor, user_id

    async def opens(self, path, ids, org_id=None):
        return await self.visitor.get(_at(path, ids, org_id))

    async def sends(self, path, ids, org_id=None):
        """Sends the form of a page, as if the page had been opened before."""
        url, values = _at(path, ids, org_id), await self.walker.values(path, ids)
        subject = url.partition("?")[0].removesuffix("/preview")
        form = await token(self.walker.server, self.visitor, subject)
        form |= {"once": self.walker.new_word(), **values}
        files = {"content": ("logo.png", PNG)} if "/pictures/" in path else None
        page = await self.visitor.post(url, form, files=files)
        # What is typed there is shown by the next page, which is refused to who may not see it.
        return await self.visitor.follow(page) if path.endswith("/preview") else page


def _at(path, ids, org_id):
    """The address of a page, in an organization."""
    for name, id in ids.items():
        path = path.replace(f"{{{name}}}", quote(id, safe=""))
    assert "{" not in path, path
    return path + (f"?org={org_id}" if org_id else "")


class Walker:
    """Fills in the forms of the console with what is in the world's organization."""

    def __init__(self, server, new_visitor, world):
        self.server, self.new_visitor, self.world = server, new_visitor, world
        self.words = count()

    def new_word(self):
        return f"word-{next(self.words)}"

    async def person(self, role, where):
        """Somebody with this role in the world's own organization, in the other, or, where that
        is None, everywhere."""
        name = self.world.new_name("person")
        login_name, password = await self.server.copy_user(name)
        (user,) = (await self.server.store.find(USERS, {"login_key": name})).records
        org_id = getattr(self.world, where).id if where else None
        if role is not None:
            await memberships.grant(self.server.service, user.id, org_id, role, actor="a test")
        visitor = self.new_visitor()
        await sign_in(visitor, login_name, password)
        return Person(self, visitor, user.id)

    async def ids(self, path):
        """The values in the address: records that the page's operation can be run on."""
        world, action = self.world, PAGES[path][1]
        known = {
            "orgId": world.own.id,
            "userId": world.machine if "/service-users/" in path else world.user,
            "projectId": world.project,
            "appId": world.app,
            "picture": "logo",
        }
        if action is None:
            made = await self._shown(path)
        else:
            made = await world.ids(action.operation)
        found = known | made | {"orgId": world.own.id}
        return {name: each for name, each in found.items() if f"{{{name}}}" in path}

    async def _shown(self, path):
        """The records that a page displays and that the world does not have initially."""
        for name, operations in SHOWN.items():
            if f"{{{name}}}" in path:
                return await self.world.ids(operations["/installation/" in path])
        return {}

    async def values(self, path, ids):
        """The values that a person enters in the form."""
        action = PAGES[path][1]
        if path.endswith(bulk.PATH):
            return {"do": "reactivate", "user": self.world.user, "confirmed": "yes"}
        if action is None:
            return {
                "name": "X",
                "projectId": self.world.project,
                "redirectUris": "https://x.test/",
            }
        operation = action.operation
        body = self.world.body(operation) or {}
        choices = {field.path for field in action.fields if field.kind == "choices"}
        found = dict(_entered(body, choices)) | {"key": self.world.new_name("key")}
        if "expirationDate" in found:
            found["expirationDate"] = f"{self.server.clock.now() + timedelta(days=30):%Y-%m-%d}"
        if "publicKey" in found:
            found["publicKey"] = b64decode(found["publicKey"]).decode()
        if operation.path.endswith("/members") and body:
            found["userId"] = await self._login_name(body["userId"])
        if path.startswith(f"{CONSOLE}/groups"):
            found |= {"projectId": self.world.project}
            if "userIds" in body:
                found["userIds"] = await self._login_name(body["userIds"][0])
        return found | await self._confirmed(action, ids)

    async def _login_name(self, user_id):
        user = await self.server.store.get(USERS, user_id)
        return user.user_name

    async def _confirmed(self, action, ids):
        """The name of the record, if it has to be entered."""
        if not action.confirms:
            return {}
        if action.loads is None:
            return {"confirm": list(ids.values())[-1]}
        loads = action.loads
        page = await self.world.owner.get(address(loads, **ids), **self.world.here)
        found = page.json()
        for name in action.name.split("."):
            found = found[name]
        return {"confirm": found}


def _entered(value, choices, path=""):
    """The members of a body as the inputs of a form have them; `choices` are lists of boxes."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _entered(each, choices, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        texts = [each for each in value if isinstance(each, str)]
        yield path, texts if path in choices else "\n".join(texts)
    elif isinstance(value, bool):
        if value:
            yield path, "on"
    else:
        yield path, str(value)


def assert_refused(page):
    """Checks that the console answers that the page does not exist for this person."""
    assert page.status in (403, 404), (page.status, page.location, page.text[:2000])
    assert page.name == "console/message", (page.name, page.text[:2000])
