"""Every field of a record that is encrypted under the master key, with its purpose.

A replacement of the master key encrypts them again: what is missing here could not be read after
it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from idp.records.audit import AUDIT_KEYS
from idp.records.browsers import AUTH_REQUESTS, PUSHED_REQUESTS
from idp.records.calls import MADE_CALLS, MADE_SECRETS
from idp.records.connection_tests import CONNECTION_TESTS
from idp.records.connections import CONNECTIONS
from idp.records.instance import DEMO_VISITS, INSTANCES, SIGNING_KEYS
from idp.records.mail import OUTBOX, REGISTRATIONS
from idp.records.users import USERS
from storage import Collection


class SealedField(NamedTuple):
    """A field (a dotted path) of a collection's records, and the purpose of its encryption."""

    collection: Collection[Any]
    path: str
    purpose: str


AUDIT_CHAIN_KEY: Final = SealedField(AUDIT_KEYS, "sealed_key", "audit chain")
CLIENT_SECRET: Final = SealedField(
    CONNECTIONS, "sealed_secrets.client_secret", "connection client secret"
)
CONNECTION_TEST_RESULT: Final = SealedField(CONNECTION_TESTS, "sealed_result", "connection test")
DEMO_CLIENT_SECRET: Final = SealedField(
    INSTANCES, "demo.sealed_client_secret", "demo-client-secret"
)
DEMO_PASSWORD: Final = SealedField(INSTANCES, "demo.sealed_password", "demo-password")
DEMO_VISIT: Final = SealedField(DEMO_VISITS, "sealed", "demo-visit")
FACTOR_SETUP: Final = SealedField(AUTH_REQUESTS, "sealed_setup", "factor-setup")
FIRST_ADMIN_PASSWORD: Final = SealedField(
    INSTANCES, "first_admin.sealed_password", "first-admin-password"
)
MAC_ROOT: Final = SealedField(INSTANCES, "sealed_mac_root", "mac root")
MADE_ANSWER: Final = SealedField(MADE_CALLS, "sealed_answer", "made call")
MADE_SECRET: Final = SealedField(MADE_SECRETS, "sealed_answer", "made call")
MAIL: Final = SealedField(OUTBOX, "sealed", "mail")
PRIVATE_KEY: Final = SealedField(SIGNING_KEYS, "sealed_private", "signing-key")
REGISTRATION: Final = SealedField(REGISTRATIONS, "sealed", "registration")
SIGN_IN_ANSWER: Final = SealedField(AUTH_REQUESTS, "sealed_answer", "sign-in answer")
TOTP_SECRET: Final = SealedField(USERS, "totp.sealed_secret", "totp")
UPSTREAM_IDENTITY: Final = SealedField(AUTH_REQUESTS, "sealed_identity", "upstream identity")

# A pushed request is stored as the request that it becomes.
_PUSHED: Final = tuple(
    field._replace(collection=PUSHED_REQUESTS)
    for field in (FACTOR_SETUP, SIGN_IN_ANSWER, UPSTREAM_IDENTITY)
)

SEALED_FIELDS: Final = (
    AUDIT_CHAIN_KEY,
    CLIENT_SECRET,
    CONNECTION_TEST_RESULT,
    DEMO_CLIENT_SECRET,
    DEMO_PASSWORD,
    DEMO_VISIT,
    FACTOR_SETUP,
    FIRST_ADMIN_PASSWORD,
    MAC_ROOT,
    MADE_ANSWER,
    MADE_SECRET,
    MAIL,
    PRIVATE_KEY,
    REGISTRATION,
    SIGN_IN_ANSWER,
    TOTP_SECRET,
    UPSTREAM_IDENTITY,
    *_PUSHED,
)
