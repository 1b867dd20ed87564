"""Operations at /admin/v1 and /v2/features: the installation as a whole."""

from __future__ import annotations

from typing import Final

from idp.api.operation import named_in, operation
from idp.background import calls
from idp.doctor import report
from idp.management.instance import keys as instance_keys
from idp.management.instance import settings as instance_settings
from idp.management.organizations import member_search, members

_MEMBERS: Final = "/admin/v1/members"
_SECURITY: Final = "/admin/v1/policies/security"
_FEATURES: Final = "/v2/features/instance"

SEARCH_MEMBERS: Final = operation(
    f"POST {_MEMBERS}/_search",
    "iam.read",
    member_search.of_instance,
    name="member_search_of_instance",
    summary="Search for members of the instance.",
)
MEMBER_ROLES: Final = operation(
    f"POST {_MEMBERS}/roles/_search",
    "iam.read",
    member_search.roles_of_instance,
    name="member_search_roles_of_instance",
    summary="List the roles that members of the instance can have.",
)
ADD_MEMBER: Final = operation(
    f"POST {_MEMBERS}",
    "iam.member.write",
    members.add_to_instance,
    name="members_add_to_instance",
    summary="Add a member to the instance.",
)
CHANGE_MEMBER: Final = operation(
    f"PUT {_MEMBERS}/{{userId}}",
    "iam.member.write",
    members.change_in_instance,
    name="members_change_in_instance",
    summary="Replace the roles of a member of the instance.",
    conditional=True,
)
REMOVE_MEMBER: Final = operation(
    f"DELETE {_MEMBERS}/{{userId}}",
    "iam.member.write",
    members.remove_from_instance,
    name="members_remove_from_instance",
    summary="Remove a member from the instance.",
    conditional=True,
)
FEATURES: Final = operation(
    f"GET {_FEATURES}",
    "iam.read",
    instance_settings.features,
    name="instance_settings_features",
    summary="Get the features, and whether each is on.",
)
SET_FEATURES: Final = operation(
    f"PUT {_FEATURES}",
    "iam.write",
    instance_settings.put_features,
    name="instance_settings_put_features",
    summary="Switch features on or off.",
    conditional=True,
)
SECURITY: Final = operation(
    f"GET {_SECURITY}",
    "iam.read",
    instance_settings.security_policy,
    name="instance_settings_security_policy",
    summary="Get the security policy.",
)
SET_SECURITY: Final = operation(
    f"PUT {_SECURITY}",
    "iam.write",
    instance_settings.put_security_policy,
    name="instance_settings_put_security_policy",
    summary="Replace the security policy.",
    conditional=True,
)
BACKGROUND_TASKS: Final = operation(
    "GET /admin/v1/background",
    "iam.read",
    calls.find_all,
    name="background_listed",
    summary="List the background tasks, and when each runs next.",
)
DOCTOR: Final = operation(
    "GET /admin/v1/doctor",
    "iam.read",
    report.of_stored,
    name="report_of_stored",
    summary="Check whether the configuration and the registered applications are secure.",
)
KEYS: Final = operation(
    "GET /admin/v1/keys",
    "iam.read",
    instance_keys.find_all,
    name="instance_keys_listed",
    summary="List the keys that sign and encrypt tokens with their states, the oldest first.",
)
ROTATE_KEYS: Final = operation(
    "POST /admin/v1/keys/_rotate",
    "iam.write",
    instance_keys.rotate,
    name="instance_keys_rotate",
    summary="Rotate the keys: the next ones sign from now on.",
)
REMOVE_KEY: Final = operation(
    "POST /admin/v1/keys/{keyId}/_remove",
    "iam.write",
    instance_keys.remove,
    name="instance_keys_remove",
    summary="Remove a key; all tokens that it signed or encrypted become invalid immediately.",
)
OPERATIONS: Final = named_in(globals())
