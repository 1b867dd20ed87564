"""/management/v1/users: what is kept with a user, whoever it is: roles and metadata."""

from __future__ import annotations

from typing import Final

from handlers.api import ApiHandler
from idp.clients import role_assignments
from idp.clients.role_assignments import AssignmentChange, NewAssignment
from idp.identity import user_metadata
from idp.identity.user_metadata import MetadataValue

_USER: Final = "/management/v1/users/([^/]+)"


class AssignmentsHandler(ApiHandler):
    """GET and POST /management/v1/users/{id}/grants."""

    permission = {"GET": "user.grant.read", "POST": "user.grant.write"}

    async def get(self, user_id: str) -> None:
        self.answer(await role_assignments.listed(self.service, self.call, self.id(user_id)))

    async def post(self, user_id: str) -> None:
        id, request = self.id(user_id), self.read(NewAssignment)
        self.answer(await role_assignments.create(self.service, self.call, id, request))


class AssignmentHandler(ApiHandler):
    """PUT and DELETE /management/v1/users/{id}/grants/{grantId}."""

    permission = "user.grant.write"

    async def put(self, user_id: str, grant_id: str) -> None:
        request, ids = self.read(AssignmentChange), (self.id(user_id), self.id(grant_id))
        self.answer(await role_assignments.change(self.service, self.call, *ids, request))

    async def delete(self, user_id: str, grant_id: str) -> None:
        ids = self.id(user_id), self.id(grant_id)
        self.answer(await role_assignments.remove(self.service, self.call, *ids))


class MetadataHandler(ApiHandler):
    """GET, POST and DELETE /management/v1/users/{id}/metadata/{key}."""

    permission = {"GET": "user.read", "POST": "user.write", "DELETE": "user.write"}

    async def get(self, user_id: str, key: str) -> None:
        self.answer(await user_metadata.show(self.service, self.call, self.id(user_id), key))

    async def post(self, user_id: str, key: str) -> None:
        id, request = self.id(user_id), self.read(MetadataValue)
        self.answer(await user_metadata.put(self.service, self.call, id, key, request))

    async def delete(self, user_id: str, key: str) -> None:
        id = self.id(user_id)
        self.answer(await user_metadata.remove(self.service, self.call, id, key))


ROUTES = [
    (f"{_USER}/grants", AssignmentsHandler),
    (f"{_USER}/grants/([^/]+)", AssignmentHandler),
    (f"{_USER}/metadata/([^/]+)", MetadataHandler),
]
