"""Operations at /admin/v1 and /v2/features: the installation as a whole."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.background import calls
from idp.doctor import report
from idp.management.instance import keys as instance_keys
from idp.management.instance import settings as instance_settings
from idp.management.organizations import member_search, members

_MEMBERS: Final = "/admin/v1/members"
_SECURITY: Final = "/admin/v1/policies/security"
_FEATURES: Final = "/v2/features/instance"

OPERATIONS = (
    operation(
        "POST",
        f"{_MEMBERS}/_search",
        "iam.read",
        member_search.of_instance,
        name="member_search_of_instance",
        summary="Find members of the instance.",
    ),
    operation(
        "POST",
        f"{_MEMBERS}/roles/_search",
        "iam.read",
        member_search.roles_of_instance,
        name="member_search_roles_of_instance",
        summary="List the roles that a member of the instance may have.",
    ),
    operation(
        "POST",
        _MEMBERS,
        "iam.member.write",
        members.add_to_instance,
        name="members_add_to_instance",
        summary="Let a user manage the instance.",
    ),
    operation(
        "PUT",
        f"{_MEMBERS}/{{userId}}",
        "iam.member.write",
        members.change_in_instance,
        name="members_change_in_instance",
        summary="Let a member manage the instance in these roles, and in no others.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_MEMBERS}/{{userId}}",
        "iam.member.write",
        members.remove_from_instance,
        name="members_remove_from_instance",
        summary="Let a member manage the instance no more.",
        conditional=True,
    ),
    operation(
        "GET",
        _FEATURES,
        "iam.read",
        instance_settings.features,
        name="instance_settings_features",
        summary="Which features are on.",
    ),
    operation(
        "PUT",
        _FEATURES,
        "iam.write",
        instance_settings.put_features,
        name="instance_settings_put_features",
        summary="Switch features on or off.",
        conditional=True,
    ),
    operation(
        "GET",
        _SECURITY,
        "iam.read",
        instance_settings.security_policy,
        name="instance_settings_security_policy",
        summary="The policy as it is.",
    ),
    operation(
        "PUT",
        _SECURITY,
        "iam.write",
        instance_settings.put_security_policy,
        name="instance_settings_put_security_policy",
        summary="Replace the policy.",
        conditional=True,
    ),
    operation(
        "GET",
        "/admin/v1/background",
        "iam.read",
        calls.listed,
        name="background_listed",
        summary="List what the installation does by itself, and when each is next.",
    ),
    operation(
        "GET",
        "/admin/v1/doctor",
        "iam.read",
        report.of_stored,
        name="report_of_stored",
        summary="Check whether what is registered and configured is safe.",
    ),
    operation(
        "GET",
        "/admin/v1/keys",
        "iam.read",
        instance_keys.listed,
        name="instance_keys_listed",
        summary="List the keys that sign and seal tokens with their states, the oldest first.",
    ),
    operation(
        "POST",
        "/admin/v1/keys/_rotate",
        "iam.write",
        instance_keys.rotate,
        name="instance_keys_rotate",
        summary="Let the waiting keys sign from now on.",
    ),
    operation(
        "POST",
        "/admin/v1/keys/{keyId}/_remove",
        "iam.write",
        instance_keys.remove,
        name="instance_keys_remove",
        summary="Void all that a key signed or sealed, at once.",
    ),
)
