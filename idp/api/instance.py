"""/admin/v1 and /v2/features: what concerns the whole instance."""

from __future__ import annotations

from typing import Final

from idp import background, instance_keys, instance_settings
from idp.api.operation import operation
from idp.doctor import report
from idp.identity import member_search, members

_MEMBERS: Final = "/admin/v1/members"
_SECURITY: Final = "/admin/v1/policies/security"
_FEATURES: Final = "/v2/features/instance"

OPERATIONS = (
    operation("POST", f"{_MEMBERS}/_search", "iam.read", member_search.of_instance),
    operation("POST", f"{_MEMBERS}/roles/_search", "iam.read", member_search.roles_of_instance),
    operation("POST", _MEMBERS, "iam.member.write", members.add_to_instance),
    operation(
        "PUT",
        f"{_MEMBERS}/{{userId}}",
        "iam.member.write",
        members.change_in_instance,
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_MEMBERS}/{{userId}}",
        "iam.member.write",
        members.remove_from_instance,
        conditional=True,
    ),
    operation("GET", _FEATURES, "iam.read", instance_settings.features),
    operation("PUT", _FEATURES, "iam.write", instance_settings.put_features, conditional=True),
    operation("GET", _SECURITY, "iam.read", instance_settings.security_policy),
    operation(
        "PUT", _SECURITY, "iam.write", instance_settings.put_security_policy, conditional=True
    ),
    operation("GET", "/admin/v1/background", "iam.read", background.listed),
    operation("GET", "/admin/v1/doctor", "iam.read", report.of_stored),
    operation("GET", "/admin/v1/keys", "iam.read", instance_keys.listed),
    operation("POST", "/admin/v1/keys/_rotate", "iam.write", instance_keys.rotate),
    operation("POST", "/admin/v1/keys/{keyId}/_remove", "iam.write", instance_keys.remove),
)
