"""Every stored record as a typed struct, and the collections that hold them.

Records are values: they are changed by a unit of writes (`storage.Update`), never by an
assignment. `sequence` counts the administrative changes of a record, with one event each; `stamp`
is a random value whose change ends every session and token that was issued under the old one. No
secret is stored in the clear: `*_hash` is a SHA-256 or a slow hash, `sealed_*` is encrypted under
the master key.
"""

from __future__ import annotations

from typing import Final

from idp.records.audit import (
    AUDIT_FLOORS,
    AUDIT_HEADS,
    AUDIT_KEYS,
    CHAIN_KEY_ID,
    AuditFloor,
    AuditHead,
    AuditKey,
    EventStream,
)
from idp.records.browsers import (
    AUTH_REQUESTS,
    BROWSERS,
    CONSENTS,
    LOGOUT_REQUESTS,
    PUSHED_REQUESTS,
    SESSIONS,
    AuthRequest,
    Browser,
    Consent,
    KnownUser,
    LogoutRequest,
    Session,
)
from idp.records.calls import MADE_CALLS, MADE_SECRETS, MadeCall, MadeSecret
from idp.records.clients import (
    APP_KEYS,
    APPLICATIONS,
    PROJECT_GRANTS,
    PROJECT_ROLES,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    USER_KEYS,
    AllowedUsers,
    Application,
    AppState,
    AppType,
    AuthMethod,
    OldSecret,
    Project,
    ProjectGrant,
    ProjectRole,
    RegisteredKey,
    ResponseType,
    RoleAssignment,
    SigningAlgorithm,
    TokenKind,
)
from idp.records.connections import COLLECTIONS as CONNECTION_COLLECTIONS
from idp.records.devices import DEVICE_REQUESTS, USER_CODES, DeviceRequest, UserCode
from idp.records.domains import DOMAINS, Challenge, OrganizationDomain, new_domain
from idp.records.grants import (
    AUTHORIZATIONS,
    REVOKED_TOKENS,
    USED_VALUES,
    AccessGrounds,
    Actor,
    ApplicationUse,
    Authorization,
    Code,
    Refresh,
    RevokedToken,
    UsedValue,
)
from idp.records.groups import COLLECTIONS as GROUP_COLLECTIONS
from idp.records.guesses import (
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    UNTRUSTED_PROXIES,
    AccountTries,
    Backoff,
    BrowserAttempts,
    FailureStreak,
    LoginNameBackoff,
    UntrustedProxy,
)
from idp.records.instance import (
    DEMO_VISITS,
    EVENTS,
    INSTANCE_ID,
    INSTANCES,
    LEASES,
    SIGNING_KEYS,
    Demo,
    DemoVisit,
    Event,
    FirstAdmin,
    Instance,
    Lease,
    SigningKey,
)
from idp.records.jobs import (
    JOB_BATCHES,
    JOB_PROBLEMS,
    JOBS,
    PACKAGE_PARTS,
    Job,
    JobBatch,
    JobOptions,
    JobProblem,
    PackagePart,
)
from idp.records.logouts import LOGOUT_MESSAGES, SESSION_CLIENTS, LogoutMessage, SessionClient
from idp.records.mail import (
    OUTBOX,
    REGISTRATIONS,
    VERIFICATIONS,
    MailKind,
    MailState,
    OutboxMessage,
    Registration,
    Verification,
)
from idp.records.origins import CLIENT_ORIGINS, ClientOrigin
from idp.records.passkeys import PASSKEYS, Passkey
from idp.records.pictures import PICTURES, Picture
from idp.records.policies import (
    POLICIES,
    AgeRules,
    ComplexityRules,
    LabelRules,
    LanguageRules,
    LockoutRules,
    LoginRules,
    LoginText,
    LoginTextRules,
    MessageTextRules,
    Policy,
    PrivacyRules,
)
from idp.records.recovery_codes import RECOVERY_CODES, RecoveryCode
from idp.records.refusals import REFUSALS, Refusal
from idp.records.test_mode import INITIAL_RECORDS, TRIALS, InitialRecord, TestModeState
from idp.records.upgrades import STEPS
from idp.records.upkeep import (
    DEFERRED_WORK,
    DELETED_ORGANIZATIONS,
    LAST_USES,
    DeferredWork,
    DeferredWorkKind,
    DeletedOrganization,
    LastUse,
)
from idp.records.users import (
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
    Totp,
    User,
    UserMetadata,
    VerifiedBy,
)
from storage import Schema

SCHEMA: Final = Schema(version=3, oldest_reader=1, steps=STEPS)

ALL: Final = (
    INSTANCES,
    ORGANIZATIONS,
    DOMAINS,
    USERS,
    LOGIN_CLAIMS,
    USER_METADATA,
    MEMBERSHIPS,
    PROJECTS,
    PROJECT_ROLES,
    PROJECT_GRANTS,
    ROLE_ASSIGNMENTS,
    *GROUP_COLLECTIONS,
    *CONNECTION_COLLECTIONS,
    APPLICATIONS,
    APP_KEYS,
    USER_KEYS,
    CLIENT_ORIGINS,
    PATS,
    PASSKEYS,
    RECOVERY_CODES,
    BROWSERS,
    SESSIONS,
    AUTH_REQUESTS,
    PUSHED_REQUESTS,
    DEVICE_REQUESTS,
    USER_CODES,
    CONSENTS,
    LOGOUT_REQUESTS,
    SESSION_CLIENTS,
    LOGOUT_MESSAGES,
    AUTHORIZATIONS,
    REVOKED_TOKENS,
    USED_VALUES,
    SIGNING_KEYS,
    LEASES,
    EVENTS,
    AUDIT_FLOORS,
    AUDIT_HEADS,
    AUDIT_KEYS,
    OUTBOX,
    VERIFICATIONS,
    REGISTRATIONS,
    DEMO_VISITS,
    REFUSALS,
    MADE_CALLS,
    MADE_SECRETS,
    LAST_USES,
    DEFERRED_WORK,
    DELETED_ORGANIZATIONS,
    POLICIES,
    PICTURES,
    JOBS,
    PACKAGE_PARTS,
    JOB_PROBLEMS,
    JOB_BATCHES,
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    UNTRUSTED_PROXIES,
)
