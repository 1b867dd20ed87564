"""/management/v1/users: service users, and what they prove themselves by."""

from __future__ import annotations

from typing import Final

from handlers.api import ApiHandler
from idp.clients import key_owners, registered_keys
from idp.clients.registered_keys import NewKey
from idp.identity import service_users, user_pats
from idp.identity.service_users import NewMachine
from idp.identity.user_pats import NewPat
from idp.requests import Nothing

_USER: Final = "/management/v1/users/([^/]+)"


class MachinesHandler(ApiHandler):
    """POST /management/v1/users/machine."""

    permission = "user.write"

    async def post(self) -> None:
        self.answer(await service_users.create(self.service, self.call, self.read(NewMachine)))


class SecretHandler(ApiHandler):
    """PUT and DELETE /management/v1/users/{id}/secret."""

    permission = "user.write"

    async def put(self, user_id: str) -> None:
        self.read(Nothing)
        id = self.id(user_id)
        self.answer(await service_users.generate_secret(self.service, self.call, id))

    async def delete(self, user_id: str) -> None:
        id = self.id(user_id)
        self.answer(await service_users.remove_secret(self.service, self.call, id))


class PatsHandler(ApiHandler):
    """GET and POST /management/v1/users/{id}/pats."""

    permission = {"GET": "user.read", "POST": "user.write"}

    async def get(self, user_id: str) -> None:
        self.answer(await user_pats.listed(self.service, self.call, self.id(user_id)))

    async def post(self, user_id: str) -> None:
        id, request = self.id(user_id), self.read(NewPat)
        self.answer(await user_pats.create(self.service, self.call, id, request))


class PatHandler(ApiHandler):
    """GET and DELETE /management/v1/users/{id}/pats/{tokenId}."""

    permission = {"GET": "user.read", "DELETE": "user.write"}

    async def get(self, user_id: str, token_id: str) -> None:
        ids = self.id(user_id), self.id(token_id)
        self.answer(await user_pats.show(self.service, self.call, *ids))

    async def delete(self, user_id: str, token_id: str) -> None:
        ids = self.id(user_id), self.id(token_id)
        self.answer(await user_pats.remove(self.service, self.call, *ids))


class UserKeysHandler(ApiHandler):
    """GET and POST /management/v1/users/{id}/keys."""

    permission = {"GET": "user.read", "POST": "user.write"}

    async def get(self, user_id: str) -> None:
        owner = await key_owners.service_user(self.service, self.call, self.id(user_id))
        self.answer(await registered_keys.listed(self.service, owner))

    async def post(self, user_id: str) -> None:
        id, request = self.id(user_id), self.read(NewKey)
        owner = await key_owners.own_service_user(self.service, self.call, id)
        self.answer(await registered_keys.create(self.service, self.call, owner, request))


class UserKeyHandler(ApiHandler):
    """GET and DELETE /management/v1/users/{id}/keys/{keyId}."""

    permission = {"GET": "user.read", "DELETE": "user.write"}

    async def get(self, user_id: str, key_id: str) -> None:
        owner = await key_owners.service_user(self.service, self.call, self.id(user_id))
        self.answer(await registered_keys.show(self.service, owner, self.id(key_id)))

    async def delete(self, user_id: str, key_id: str) -> None:
        owner = await key_owners.service_user(self.service, self.call, self.id(user_id))
        key_id = self.id(key_id)
        self.answer(await registered_keys.remove(self.service, self.call, owner, key_id))


ROUTES = [
    ("/management/v1/users/machine", MachinesHandler),
    (f"{_USER}/secret", SecretHandler),
    (f"{_USER}/pats", PatsHandler),
    (f"{_USER}/pats/([^/]+)", PatHandler),
    (f"{_USER}/keys", UserKeysHandler),
    (f"{_USER}/keys/([^/]+)", UserKeyHandler),
]
