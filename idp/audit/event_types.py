"""The types of events, each with its description. No other types are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from idp.audit import event_details
from idp.records import EventStream

# The kinds of records with their labels, and the changes that follow the dot in a type.
_CHANGES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "app_key": ("Key of an application", ("created", "deleted")),
    "application": (
        "Application",
        (
            "changed",
            "created",
            "deactivated",
            "debug_mode_ended",
            "debug_mode_set",
            "deleted",
            "reactivated",
            "resumed",
            "secret_ended",
            "secret_generated",
            "suspended",
        ),
    ),
    "audit": ("Audit log", ("events_removed", "payloads_erased")),
    "authorization": ("Authorization", ("revoked",)),
    "client": ("Client", ("authentication_failed",)),
    "connection": (
        "Connection",
        ("activated", "changed", "created", "deactivated", "deleted", "trust_changed"),
    ),
    "connection_test": ("Test of a connection", ("created", "finished")),
    "consent": ("Consent", ("deleted", "given")),
    "device": ("Device", ("allowed",)),
    "domain": ("Domain", ("challenge_made", "created", "deleted", "verified")),
    "export": ("Export", ("made",)),
    "group": ("Group", ("changed", "created", "deleted")),
    "group_grant": ("Roles of a group", ("changed", "created", "deleted")),
    "group_member": ("Member of a group", ("changed", "created", "deleted")),
    "identity_link": ("Link to another provider", ("created", "deleted")),
    "import": ("Import", ("deleted", "finished", "resumed", "started")),
    "instance": (
        "Installation",
        (
            "created",
            "demo_made",
            "features_changed",
            "first_admin_forgotten",
            "first_admin_renewed",
            "keys_made",
            "master_key_rotated",
            "security_policy_changed",
            "sign_in.failed",
            "tokens_invalidated",
        ),
    ),
    "key": ("Signing key", ("active", "made", "removed", "retired")),
    "mail": ("Mail", ("retried",)),
    "membership": ("Membership", ("changed", "created", "deleted")),
    "network": ("Network", ("slowed",)),
    "organization": (
        "Organization",
        (
            "changed",
            "created",
            "deactivated",
            "deleted",
            "primary_domain_changed",
            "reactivated",
            "renamed",
        ),
    ),
    "offered_connections": ("Offered connections", ("changed", "created", "deleted")),
    "passkey": ("Passkey", ("changed", "created", "deleted", "refused")),
    "pat": ("Personal access token", ("created", "deleted")),
    **{
        name: (label, ("changed", "created", "deleted"))
        for name, label in {
            "label_policy": "Colours",
            "lockout_policy": "Lockout policy",
            "language_policy": "Languages",
            "login_policy": "Login policy",
            "login_text": "Texts of the pages",
            "message_text": "Text of a message",
            "password_age_policy": "Password age policy",
            "password_complexity_policy": "Password complexity policy",
            "picture": "Logo or icon",
            "privacy_policy": "Privacy links",
        }.items()
    },
    "policy": ("Policy", ("deleted",)),
    "project": ("Project", ("changed", "created", "deactivated", "deleted", "reactivated")),
    "project_grant": (
        "Project grant",
        ("changed", "created", "deactivated", "deleted", "reactivated"),
    ),
    "project_role": ("Role of a project", ("changed", "created", "deleted")),
    "role_assignment": ("Roles of a user", ("changed", "created", "deleted")),
    "session": ("Session", ("ended", "opened", "renewed")),
    "token": (
        "Token",
        ("exchanged", "impersonated", "impersonation_refused", "refresh_repeated"),
    ),
    "user": (
        "User",
        (
            "changed",
            "created",
            "deactivated",
            "deleted",
            "email_changed",
            "email_domain_lost",
            "email_superseded",
            "email_verified",
            "impersonated",  # of former releases: token.impersonated now
            "locked",
            "passkey_added",
            "passkey_removed",
            "password_changed",
            "password_reset",
            "phone_changed",
            "phone_removed",
            "phone_verified",
            "reactivated",
            "secret_ended",
            "secret_generated",
            "recovery_code_used",
            "recovery_codes_made",
            "secret_removed",
            "sign_in.failed",
            "signed_out",
            "totp_added",
            "totp_removed",
            "unlocked",
        ),
    ),
    "user_key": ("Key of a service user", ("created", "deleted")),
    "user_metadata": ("Metadata of a user", ("changed", "created", "deleted")),
}
_SPACES: Final = str.maketrans("_.", "  ")
OBJECTS: Final[Mapping[str, str]] = {name: label for name, (label, _) in _CHANGES.items()}
TYPES: Final[Mapping[str, str]] = {
    f"{name}.{change}": event_details.sentence(f"{name}.{change}")
    or f"{label}: {change.translate(_SPACES)}"
    for name, (label, changes) in _CHANGES.items()
    for change in changes
}
STREAMS: Final[tuple[EventStream, ...]] = get_args(EventStream)
_ACCESS: Final = frozenset({"authorization", "consent", "device", "session", "token"})


def stream_of(event_type: str) -> EventStream:
    """Returns the stream that events of this type belong to: `failure` for refused attempts,
    `access` for sessions and authorizations, `change` for all others."""
    if event_type in event_details.SENTENCES:
        return "failure"
    return "access" if object_of(event_type) in _ACCESS else "change"


def object_of(event_type: str) -> str:
    """Returns the kind of record that events of this type are about, such as `user`."""
    return event_type.partition(".")[0]
