"""Every promise of the ledger has its tests, and the page that shows it is the ledger's."""

from __future__ import annotations

import pytest

from tests.support import conformance

IDS = [row["id"] for row in conformance.rows()]

IMPLICIT = ("access_token", "expires_in", "id_token", "token_type", "scope", "state")
PROMPTS = ("absent", "none", "login", "select_account", "create")
GRANTS = {
    "code": ["grant_type", "code", "redirect_uri", "code_verifier", "response"],
    "JWT profile": ["grant_type", "assertion", "scope", "response"],
    "refresh": ["grant_type", "refresh_token", "scope", "response", "none"],
    "client credentials": ["grant_type", "scope", "authentication", "response"],
    "exchange": [
        *["enabled first", "subject_token", "subject_token_type", "actor_token"],
        *["actor_token_type", "requested_token_type", "scope", "audience", "resource"],
        *["authentication", "response access_token", "response token_type"],
        *["response issued_token_type", "response refresh_token", "response id_token"],
        *["response expires_in", "response scope", "type access_token", "type refresh_token"],
        *["type id_token", "type jwt", "type user_id"],
    ],
}
TABLES = {
    "1": [
        *["authorization server", "users", "login page", "preregistered", "discovery"],
        "no metadata endpoint",
    ],
    "2.1": [
        *["client_id", "client_secret", "redirect URIs", "post-logout redirect URIs"],
        *["allowed response types", "authentication method", "registered public key"],
        *["id_token_userinfo_assertion", "access token type"],
    ],
    "2.2": ["openid", "profile email phone address", "offline_access", "separated by spaces"],
    "2.3": [
        *["access_token", "id_token", "refresh_token", "authorization code"],
        "personal access token",
    ],
    "4.1": ["path", "content"],
    "4.2": [
        *["endpoint", "client_id", "redirect_uri", "scope"],
        *[f"response_type {each}" for each in ("code", "id_token", "id_token token")],
        *["code_challenge", "code_challenge_method"],
        *["id_token_hint", "login_hint", "max_age", "nonce", "state", "ui_locales"],
        *[f"prompt {each}" for each in PROMPTS],
        *["lean ID token", "success: code", "error", "error page"],
        *[f"implicit success: {each}" for each in IMPLICIT],
    ],
    "4.3": [f"{grant}: {row}" for grant, rows in GRANTS.items() for row in rows],
    "4.4": [
        *["token", "authentication", "revoked", "active", "user claims", "401"],
        *[f"response {each}" for each in ("aud", "client_id", "exp iat nbf", "iss", "jti")],
        *["response scope", "response token_type", "response username"],
    ],
    "4.5": ["header", "response", "401"],
    "4.6": ["token", "authentication", "access token", "refresh token"],
    "4.7": [
        *["cookie alone", "id_token_hint", "client_id", "post_logout_redirect_uri", "state"],
        "azp or client_id",
    ],
    "4.8": ["public keys", "kid", "rotation", "caching"],
    "2.4": ["name", "orgId", "generated domain", "human user", "details", "sequence"],
    "4.9": [
        *["one operation", "org", "human", "display name", "preferred language", "email"],
        *["phone", "password", "roles", "200", "400", "403", "404"],
    ],
    "4.10": [
        *["user id", "username", "organization", "profile", "email", "verification email"],
        *["phone", "metadata", "password", "hashedPassword", "idpLinks", "200", "403", "404"],
    ],
    "4.11": [
        *["org_ids", "excluded_org_ids", "with_passwords, with_otp", "timeout", "not included"],
        *["custom policies", "response_output", "gcs_output"],
        "path, bucket, serviceaccount_json",
    ],
    "4.13": ["minimal body", "hashedPassword.value", "mail", "permission"],
    "4.12": ["timeout", "data_orgsv1", "data_orgsv1_gcs", "jobs", "dry run", "fix"],
    "4.14": ["body shape", "from Auth0", "from Keycloak", "from tables and lines"],
    "8": [
        *["names", "nick and display name", "preferred language", "phone", "identifiers"],
        "metadata",
    ],
    "5": [
        *["client_secret_basic", "client_secret_post", "none", "private_key_jwt"],
        *[f"note {number}" for number in range(1, 8)],
    ],
    "7.1": [
        *["invalid_request", "invalid_scope", "unauthorized_client", "server_error"],
        *["unsupported_response_type", "interaction_required", "login_required"],
    ],
    "7.2": [
        *["invalid_request", "invalid_scope", "unauthorized_client", "server_error"],
        *["unsupported_grant_type", "invalid_grant", "invalid_client"],
    ],
    "7.3": ["introspection", "userinfo"],
    "doctor": ["checks", "exit codes", "commands"],
    "start": [
        "refused",
        "empty store",
        "trial network",
        "profiles",
        "registration",
        "unencrypted",
        "last issuer",
    ],
}
BEHAVIOURS = [*range(1, 61), "16 id_token_hint", "18 form_post", "19 iss"]
SAFE_PROTOCOL = [
    *["logout", "hint", "request", "assertion"],
    *["requirePkce", "confirmReturn", "refresh", "reset link", "programs"],
    *["TLS 1.2", "back-channel", "organization", "console"],
    *["anonymous", "note", "sweep", "limits", "pushed", "outage"],
]
SAFE_PASSWORDS = [f"passwords: {each}" for each in ("length", "policies", "strength", "breached")]
SAFE_ACTING = ["every use", "policy", "life", "reads", "personal tokens"]
SAFE = [*SAFE_PROTOCOL, *SAFE_PASSWORDS, *(f"acting: {each}" for each in SAFE_ACTING)]
SAFE += ["covered: users", "covered: projects"]
SAFE += [f"audit: {each}" for each in ("longest lives", "refused credentials", "events")]
SAFE += ["consent: claims", "covered: policies", "covered: management access"]
SAFE += [
    f"covered: {each}"
    for each in ("console", "organizations", "sweep", "commands", "indirectly", "addresses")
]
TENANTS = ["claims", "forged address", "superseded address", "domain", "squatted name"]
USERS = ["each point", "projects", "withdrawn", "page", "grants", "proposed", "upgrade"]
GUESSES = ["passwords", "known browsers", "closed", "networks", "codes", "lockout", "proxies"]
FAULTS = [
    *["Idempotency-Key", "settling", "readyz", "helper processes", "short TOTP secrets", "phpass"],
    *["export timeout", "bounds", "images", "chunks"],
]
REFUSED: set[str] = set()


@pytest.mark.parametrize("row", conformance.rows(), ids=IDS)
def test_a_promise_names_tests_that_are_there(row):
    assert row["tests"]
    assert not conformance.missing(row)


def test_the_ledger_holds_exactly_these_promises_each_once():
    of_tables = [f"{table} {name}" for table, names in TABLES.items() for name in names]

    assert sorted(IDS) == sorted(
        [
            *of_tables,
            *map(str, BEHAVIOURS),
            *(f"safe {each}" for each in SAFE),
            *(f"faults {each}" for each in FAULTS),
            *(f"tenant {each}" for each in TENANTS),
            *(f"users {each}" for each in USERS),
            *(f"guesses: {each}" for each in GUESSES),
        ]
    )


def test_exactly_these_promises_are_of_what_is_not_offered():
    assert {row["id"] for row in conformance.rows() if row.get("refused")} == REFUSED


def test_a_promise_without_a_test_would_be_found():
    row = {
        "tests": [
            "handlers/protocol/authorization/test_authorize.py::test_of_nothing",
            "nowhere.py::test_a",
        ]
    }

    assert conformance.missing(row) == row["tests"]


def test_the_page_is_made_from_the_ledger():
    assert conformance.PAGE.read_text(encoding="utf-8") == conformance.page()
