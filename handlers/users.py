"""/v2/users: people, for who manages their organization."""

from __future__ import annotations

import asyncio
from typing import Final

from handlers.api import ApiHandler
from idp.fields import Name
from idp.identity import create_human, prove_contact, read_user, user_states
from idp.requests import Nothing, Request

# Some metadata of 500,000 characters each; a record is smaller.
MAX_BODY_BYTES: Final = 4 * 1024 * 1024
_USER: Final = "/v2/users/([^/]+)"


class CreateHumanHandler(ApiHandler):
    """POST /v2/users/human (specification 4.10)."""

    permission = "user.write"

    @property
    def max_body_bytes(self) -> int:
        return max(super().max_body_bytes, MAX_BODY_BYTES)

    async def post(self) -> None:
        document = await asyncio.to_thread(self.document)  # it may take the loop too long
        self.answer(await create_human.create(self.service, self.call, document))


class UserHandler(ApiHandler):
    """GET /v2/users/{id}."""

    permission = "user.read"

    async def get(self, user_id: str) -> None:
        found = await read_user.read(self.service, self.call, self.id(user_id))
        self.set_header("ETag", f'"{found.details.sequence}"')
        self.answer(found)


class Code(Request, frozen=True, kw_only=True):
    verification_code: Name


class VerifyHandler(ApiHandler):
    """POST /v2/users/{id}/email/verify and /phone/verify: the code that was sent there."""

    permission = "user.write"

    async def post(self, user_id: str, contact: str) -> None:
        code = self.read(Code).verification_code
        id = self.id(user_id)
        self.answer(await prove_contact.prove(self.service, self.call, id, contact, code))


class StateHandler(ApiHandler):
    """POST /v2/users/{id}/deactivate, /reactivate, /lock and /unlock."""

    permission = "user.write"

    async def post(self, user_id: str, step: str) -> None:
        self.read(Nothing)
        id = self.id(user_id)
        self.answer(await user_states.change(self.service, self.call, id, step))


ROUTES = [
    ("/v2/users/human", CreateHumanHandler),
    (_USER, UserHandler),
    (f"{_USER}/(email|phone)/verify", VerifyHandler),
    (f"{_USER}/(deactivate|reactivate|lock|unlock)", StateHandler),
]
