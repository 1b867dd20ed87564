"""/admin/v1 and /v2/features: what concerns the whole instance."""

from __future__ import annotations

from handlers.api import ApiHandler
from idp import instance_settings
from idp.identity import members, org_setup
from idp.identity.members import InstanceMemberChange, NewInstanceMember
from idp.instance_settings import Features, SecurityPolicy


class SetUpOrganizationHandler(ApiHandler):
    """POST /admin/v1/orgs/_setup: an organization with its first administrator."""

    permission = "iam.write"

    async def post(self) -> None:
        document = self.document()
        self.answer(await org_setup.set_up(self.service, document, actor=self.call.actor))


class InstanceMembersHandler(ApiHandler):
    """POST /admin/v1/members: who manages the instance."""

    permission = "iam.member.write"

    async def post(self) -> None:
        request = self.read(NewInstanceMember)
        self.answer(await members.add_to_instance(self.service, self.call, request))


class InstanceMemberHandler(ApiHandler):
    """PUT and DELETE /admin/v1/members/{userId}."""

    permission = "iam.member.write"

    async def put(self, user_id: str) -> None:
        id, request = self.id(user_id), self.read(InstanceMemberChange)
        self.answer(await members.change_in_instance(self.service, self.call, id, request))

    async def delete(self, user_id: str) -> None:
        id = self.id(user_id)
        self.answer(await members.remove_from_instance(self.service, self.call, id))


class FeaturesHandler(ApiHandler):
    """GET and PUT /v2/features/instance: what is switched on."""

    permission = {"GET": "iam.read", "PUT": "iam.write"}

    async def get(self) -> None:
        self.answer(await instance_settings.features(self.service))

    async def put(self) -> None:
        request = self.read(Features)
        self.answer(await instance_settings.put_features(self.service, self.call, request))


class SecurityPolicyHandler(ApiHandler):
    """GET and PUT /admin/v1/policies/security."""

    permission = {"GET": "iam.read", "PUT": "iam.write"}

    async def get(self) -> None:
        self.answer(await instance_settings.security_policy(self.service))

    async def put(self) -> None:
        request = self.read(SecurityPolicy)
        self.answer(await instance_settings.put_security_policy(self.service, self.call, request))


ROUTES = [
    ("/admin/v1/orgs/_setup", SetUpOrganizationHandler),
    ("/admin/v1/members", InstanceMembersHandler),
    ("/admin/v1/members/([^/]+)", InstanceMemberHandler),
    ("/v2/features/instance", FeaturesHandler),
    ("/admin/v1/policies/security", SecurityPolicyHandler),
]
