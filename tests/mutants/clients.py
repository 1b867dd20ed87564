"""Mutants of client authentication and of assertions."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

AUTH = "idp/oauth/authentication/client_authentication.py"
CLAIMED = "idp/oauth/authentication/claimed_client.py"
ASSERTIONS = "idp/oauth/authentication/jwt_assertions.py"
BY_SECRET = "tests/handlers/protocol/clients/test_client_auth.py"
BY_KEY = "tests/handlers/protocol/clients/test_client_assertion.py"
INTROSPECTION = "tests/handlers/protocol/tokens/test_introspection.py"

MUTANTS = [
    Mutant(
        "a secret is not compared",
        AUTH,
        'return client_secrets.matching_id(client, claimed.secret or "", now)',
        'return ""',
        f"{BY_SECRET} -k does_not_authenticate",
    ),
    Mutant(
        "an old secret without an end",
        "idp/credentials/client_secrets.py",
        "return old if old is not None and now < old.ends_at else None",
        "return old",
        "tests/handlers/management/projects/test_secret_rotation.py -k overlap_is_over",
    ),
    Mutant(
        "tokens that outlive their project's pause",
        "idp/management/projects/states.py",
        "stamp = transition.stamp(service.random, client.stamp)",
        "stamp = client.stamp",
        "tests/handlers/management/projects/test_project_life.py -k stays_invalid",
    ),
    Mutant(
        "any method will do",
        AUTH,
        "if claimed.method != client.auth_method and not _may_replace(claimed.method, client):",
        "if False:",
        f"{BY_SECRET} -k only_the_registered_method",
    ),
    Mutant(
        "introspection takes every method",
        AUTH,
        "    if used in methods:\n",
        "    if True:\n",
        f"{INTROSPECTION} -k does_not_authenticate",
    ),
    Mutant(
        "a challenge for Basic to a client without the header",
        "handlers/protocol/client_endpoint.py",
        "return super().challenge_for(error) if self._has_header() else None",
        "return super().challenge_for(error)",
        "tests/handlers/protocol/clients/test_refused_clients.py -k without_a_challenge",
    ),
    Mutant(
        "an inactive client is a client",
        AUTH,
        'if client.state != "active":',
        "if False:",
        f"{BY_SECRET} -k inactive",
    ),
    Mutant(
        "a public client may send a secret",
        AUTH,
        'return "" if claimed.secret is None else None',
        'return ""',
        "tests/idp/oauth/authentication/test_client_authentication.py",
    ),
    Mutant(
        "header and form at once",
        CLAIMED,
        "    if secret is not None:\n        raise InvalidRequest(",
        "    if False:\n        raise InvalidRequest(",
        "tests/idp/oauth/authentication/test_client_authentication.py",
    ),
    Mutant(
        "assertion and secret at once",
        CLAIMED,
        "if authorization is not None or secret is not None:",
        "if False:",
        f"{BY_KEY} -k alone_and_whole",
    ),
    Mutant(
        "client_id may differ from the header's",
        CLAIMED,
        "if client_id not in (None, claimed.client_id):",
        "if False:",
        "tests/idp/oauth/authentication/test_client_authentication.py",
    ),
    Mutant(
        "client_id may differ from the assertion's",
        CLAIMED,
        "if client_id not in (None, assertion.claims.iss):",
        "if False:",
        f"{BY_KEY} -k alone_and_whole",
    ),
    Mutant(
        "any type of assertion",
        CLAIMED,
        'if params.required("client_assertion_type") != ASSERTION_TYPE:',
        "if False:",
        f"{BY_KEY} -k alone_and_whole",
    ),
    Mutant(
        "octets after the Basic header's end",
        CLAIMED,
        "if not colon or base64.b64encode(decoded) != sent:",
        "if not colon:",
        "tests/idp/oauth/authentication/test_client_authentication.py -k padding",
    ),
    Mutant(
        "a client's assertion needs no jti",
        AUTH,
        "needs_jti=True",
        "needs_jti=False",
        f"{BY_KEY} -k 'does_not_authenticate and jti'",
    ),
    Mutant(
        "an assertion finds out which clients there are",
        AUTH,
        "    if claimed.assertion is not None:\n        refusal.describe(",
        "    if False:\n        refusal.describe(",
        "tests/handlers/protocol/clients/test_assertion_faults.py -k finds_out",
    ),
    Mutant(
        "anybody's key",
        ASSERTIONS,
        "if key is None or key.owner_id != claims.iss:",
        "if key is None:",
        f"{BY_KEY} -k key_of_another",
    ),
    Mutant(
        "a signature is not verified",
        ASSERTIONS,
        "jws.verify_foreign(jws.load_public(key.public), assertion.parsed, ALGORITHMS)",
        "jose.load_public(key.public)",
        f"{BY_KEY} -k 'does_not_authenticate and another_key or does_not_authenticate and HS256'",
    ),
    Mutant(
        "iss and sub may differ",
        ASSERTIONS,
        "if claims.iss != claims.sub:",
        "if False:",
        f"{BY_KEY} -k 'does_not_authenticate and sub'",
    ),
    Mutant(
        "one good audience among others",
        ASSERTIONS,
        "if audience and set(audience) <= set(accepted):",
        "if set(audience) & set(accepted):",
        f"{BY_KEY} -k 'does_not_authenticate and aud'",
    ),
    Mutant(
        "every endpoint's address is an audience everywhere",
        ASSERTIONS,
        "if audience and set(audience) <= set(accepted):",
        "if audience and all(each.startswith(accepted[0]) for each in audience):",
        "tests/handlers/protocol/clients/test_assertion_audiences.py -k no_address_of_another",
    ),
    Mutant(
        "an assertion never expires",
        ASSERTIONS,
        "if expires is None or expires + SKEW <= now:",
        "if expires is None:",
        f"{BY_KEY} -k 'does_not_authenticate and exp'",
    ),
    Mutant(
        "an assertion for a year",
        ASSERTIONS,
        "if expires > now + MAX_LIFETIME + SKEW:",
        "if False:",
        f"{BY_KEY} -k 'does_not_authenticate and exp'",
    ),
    Mutant(
        "iat may be anywhen",
        ASSERTIONS,
        '    _check_beginning("iat", issued, now)\n',
        "",
        f"{BY_KEY} -k 'does_not_authenticate and iat'",
    ),
    Mutant(
        "iat may be long ago",
        ASSERTIONS,
        "if issued is not None and issued < now - MAX_LIFETIME - SKEW:",
        "if False:",
        f"{BY_KEY} -k 'does_not_authenticate and iat'",
    ),
    Mutant(
        "nbf may be ahead",
        ASSERTIONS,
        '    _check_beginning("nbf", begins, now)\n',
        "",
        f"{BY_KEY} -k 'does_not_authenticate and nbf'",
    ),
    Mutant(
        "an assertion counts again and again",
        ASSERTIONS,
        "    await _store_use(service, assertion)\n",
        "",
        f"{BY_KEY} -k counts_once",
    ),
    Mutant(
        "the jti of one client is another's",
        ASSERTIONS,
        'opaque_tokens.digest(f"{claims.iss}\\n{jti}")',
        "opaque_tokens.digest(jti)",
        f"{BY_KEY} -k same_jti",
    ),
    Mutant(
        "a jti is forgotten at once",
        ASSERTIONS,
        '{jti}"), expires_at=expires + 2 * SKEW',
        '{jti}"), expires_at=expires - MAX_LIFETIME',
        f"{BY_KEY} -k forgotten",
    ),
]
