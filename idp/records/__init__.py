"""Every stored record as a typed struct, and the collections that hold them.

Records are values: changing one is a unit of writes (`storage.Update`), never an assignment.
`sequence` counts the administrative changes of a record, one event each; `stamp` is a random
value whose change ends every session and token that was issued under the old one. Nothing that
can be used is kept in the clear: `*_hash` is a SHA-256 or a slow hash, `sealed_*` is encrypted
under the master key.
"""

from __future__ import annotations

from typing import Final

from idp.records.browsers import (
    AGENTS,
    AUTH_REQUESTS,
    LOGOUT_REQUESTS,
    SESSIONS,
    Agent,
    AuthRequest,
    LogoutRequest,
    Session,
)
from idp.records.clients import (
    APPLICATIONS,
    PROJECTS,
    Application,
    AppType,
    AuthMethod,
    GrantType,
    Project,
    ResponseType,
)
from idp.records.grants import (
    AUTHORIZATIONS,
    Authorization,
    Code,
    Refresh,
)
from idp.records.instance import (
    DEMO_VISITS,
    EVENTS,
    INSTANCE_ID,
    INSTANCES,
    SIGNING_KEYS,
    Demo,
    DemoVisit,
    Event,
    FirstAdmin,
    Instance,
    SigningKey,
)
from idp.records.mail import (
    OUTBOX,
    REGISTRATIONS,
    VERIFICATIONS,
    Mail,
    MailKind,
    Registration,
    Verification,
)
from idp.records.people import (
    LOGIN_CLAIMS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PATS,
    USER_METADATA,
    USERS,
    Address,
    Email,
    IdpLink,
    LoginClaim,
    Membership,
    Organization,
    Password,
    PersonalAccessToken,
    Phone,
    Profile,
    User,
    UserMetadata,
)
from idp.records.refusals import REFUSALS, Refusal
from idp.records.trial import KEPT, TRIALS, Kept, Trial
from storage import Schema

SCHEMA: Final = Schema(version=1, oldest_reader=1)

ALL: Final = (
    INSTANCES,
    ORGANIZATIONS,
    USERS,
    LOGIN_CLAIMS,
    USER_METADATA,
    MEMBERSHIPS,
    PROJECTS,
    APPLICATIONS,
    PATS,
    AGENTS,
    SESSIONS,
    AUTH_REQUESTS,
    LOGOUT_REQUESTS,
    AUTHORIZATIONS,
    SIGNING_KEYS,
    EVENTS,
    OUTBOX,
    VERIFICATIONS,
    REGISTRATIONS,
    DEMO_VISITS,
    REFUSALS,
)

__all__ = [
    "AGENTS",
    "ALL",
    "APPLICATIONS",
    "AUTHORIZATIONS",
    "AUTH_REQUESTS",
    "Address",
    "Agent",
    "AppType",
    "Application",
    "AuthMethod",
    "AuthRequest",
    "Authorization",
    "Code",
    "DEMO_VISITS",
    "Demo",
    "DemoVisit",
    "EVENTS",
    "Email",
    "Event",
    "FirstAdmin",
    "GrantType",
    "IdpLink",
    "INSTANCES",
    "INSTANCE_ID",
    "Instance",
    "KEPT",
    "Kept",
    "LOGIN_CLAIMS",
    "LOGOUT_REQUESTS",
    "LoginClaim",
    "LogoutRequest",
    "MEMBERSHIPS",
    "Mail",
    "MailKind",
    "Membership",
    "ORGANIZATIONS",
    "OUTBOX",
    "Organization",
    "PATS",
    "PROJECTS",
    "Password",
    "PersonalAccessToken",
    "Phone",
    "Profile",
    "Project",
    "REGISTRATIONS",
    "Refresh",
    "Refusal",
    "Registration",
    "REFUSALS",
    "ResponseType",
    "SCHEMA",
    "SESSIONS",
    "SIGNING_KEYS",
    "Session",
    "SigningKey",
    "TRIALS",
    "Trial",
    "USERS",
    "USER_METADATA",
    "User",
    "VERIFICATIONS",
    "Verification",
    "UserMetadata",
]
