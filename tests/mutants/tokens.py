"""Mutants of what decides whether a code, a token or a grant still counts."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STANDING = "idp/oauth/tokens/validity.py"
TOKENS = "idp/oauth/tokens/access_tokens.py"
CODE = "idp/oauth/grants/authorization_code.py"
REFRESH = "idp/oauth/grants/refresh_token.py"
TOKEN_REQUEST = "idp/oauth/grants/token_request.py"
GRANTS = "idp/oauth/grants/__init__.py"
INTROSPECTION = "tests/handlers/protocol/tokens/test_introspection.py"
REVOCATION = "tests/handlers/protocol/tokens/test_revocation.py"
LOST = "tests/handlers/protocol/tokens/test_lost_answers.py"
OF_CODES = "tests/handlers/protocol/tokens/test_token_code.py"
OF_REFRESH = "tests/handlers/protocol/tokens/test_token_refresh.py"
REUSE = "tests/handlers/protocol/tokens/test_refresh_reuse.py"
OF_TOKENS = "tests/handlers/protocol/tokens/test_tokens.py"
OF_SERVICES = "tests/handlers/protocol/tokens/test_service_tokens.py"
USERINFO = "tests/handlers/protocol/tokens/test_userinfo.py"
RACES = "tests/flows/test_races.py"

MUTANTS = [
    Mutant(
        "a revoked grant stands",
        STANDING,
        "all(each and each.revoked_at is None for each in authorizations)",
        "all(authorizations)",
        f"{INTROSPECTION} -k stand_any_more",
    ),
    Mutant(
        "a session that ended lives",
        STANDING,
        "return session if session is not None and session.ended_at is None else None",
        "return session",
        f"{INTROSPECTION} -k stand_any_more",
    ),
    Mutant(
        "a revoked token stands",
        STANDING,
        "or any(records.of(REVOKED_TOKENS, each) for each in dependencies.token_ids)",
        "or False",
        f"{REVOCATION} -k ends_alone",
    ),
    Mutant(
        "stamps decide nothing",
        STANDING,
        "or dependencies.stamps != security_stamps.of(",
        "or False and security_stamps.of(",
        f"{INTROSPECTION} -k stand_any_more",
    ),
    Mutant(
        "an inactive user stands",
        STANDING,
        "return subject if subjects.is_active(subject) else None",
        "return subject",
        f"{INTROSPECTION} -k stand_any_more",
    ),
    Mutant(
        "an inactive client stands",
        STANDING,
        "if is_active and is_of_organization else None",
        "if is_its_own else None",
        f"{INTROSPECTION} -k ends_with_its_client",
    ),
    Mutant(
        "access tokens never expire",
        TOKENS,
        "return now.timestamp() >= claims.exp",
        "return False",
        f"{USERINFO} -k expired",
    ),
    Mutant(
        "a token of another issuer",
        TOKENS,
        "return claims if claims is not None and claims.iss == service.config.issuer else None",
        "return claims",
        f"{OF_TOKENS} -k another_issuer",
    ),
    Mutant(
        "any JWT of ours is an access token",
        TOKENS,
        "return _Text(parsed.header.kid, parsed) if parsed.header.typ == JWT_TYPE else None",
        "return _Text(parsed.header.kid, parsed)",
        f"{OF_TOKENS} -k 'type or taken_for_each_other'",
    ),
    Mutant(
        "a JWT's signature is not verified",
        TOKENS,
        "        jws.verify(key, parsed)\n",
        "",
        f"{OF_TOKENS} -k 'hostile or strange_key or changed'",
    ),
    Mutant(
        "a personal access token by its id",
        "idp/identity/users/personal_access_tokens.py",
        "if pat is None or not opaque_tokens.matches(parts[1], pat.secret_hash):",
        "if pat is None:",
        f"{USERINFO} -k personal_access_token",
    ),
    Mutant(
        "introspection for everybody",
        "idp/oauth/endpoints/introspection.py",
        "return caller.id in token.claims.aud or caller.project_id in token.claims.aud",
        "return True",
        f"{INTROSPECTION} -k another_project",
    ),
    Mutant(
        "introspection of anybody's personal access token",
        "idp/oauth/endpoints/introspection.py",
        "return subject is not None and caller.org_id == subject.organization.id",
        "return True",
        f"{INTROSPECTION} -k personal_access_token",
    ),
    Mutant(
        "anybody's access token is revoked",
        "idp/oauth/endpoints/revocation.py",
        "if token is not None and token.client_id == caller.id:",
        "if token is not None:",
        f"{REVOCATION} -k another_clients",
    ),
    Mutant(
        "anybody's refresh token is revoked",
        "idp/oauth/endpoints/revocation.py",
        "        and authorization.client_id == client_id\n",
        "",
        f"{REVOCATION} -k another_clients",
    ),
    Mutant(
        "a refresh token is revoked by its id",
        "idp/oauth/endpoints/revocation.py",
        "        and opaque_tokens.matches(family, refresh.family_hash)\n",
        "",
        f"{REVOCATION} -k nobody_knows",
    ),
    Mutant(
        "a code of another client",
        TOKEN_REQUEST,
        "if issued.client_id != request.client.id:",
        "if False:",
        f"{OF_CODES} -k another_client",
    ),
    Mutant(
        "a code by its id",
        CODE,
        "        or not opaque_tokens.matches(parts[1], code.hash)\n",
        "",
        f"{OF_CODES} -k 'changed or refused_exchange'",
    ),
    Mutant(
        "a code at another redirect_uri",
        CODE,
        "if code.redirect_uri != redirect_uri:",
        "if False:",
        f"{OF_CODES} -k refused_exchange",
    ),
    Mutant(
        "a code without its verifier",
        CODE,
        '        pkce.verify(code.code_challenge, params.get("code_verifier"))\n',
        "        pass\n",
        f"{OF_CODES} -k 'refused_exchange or verifier'",
    ),
    Mutant(
        "a code twice",
        CODE,
        "if code.redeemed_at is not None and not _is_unanswered(authorization, code):",
        "if False:",
        f"{OF_CODES} -k replay",
    ),
    Mutant(
        "a code for ever",
        CODE,
        "if code.expires_at <= now:",
        "if False:",
        f"{OF_CODES} -k sixty_seconds",
    ),
    Mutant(
        "a code after the logout",
        CODE,
        "if authorized.session is None:",
        "if False:",
        f"{OF_CODES} -k after_the_logout",
    ),
    Mutant(
        "two redemptions at one moment",
        CODE,
        '= {"code.redeemed_at": code.redeemed_at, "revoked_at": None}',
        "= {}",
        f"{RACES} -k redemptions",
    ),
    Mutant(
        "a replayed code revokes nothing",
        TOKEN_REQUEST,
        "    await authorizations.revoke(request.service",
        '    str.format("", request.service',
        f"{OF_CODES} -k replayed_code",
    ),
    Mutant(
        "a refresh token by its family",
        REFRESH,
        "if not is_current and not _may_repeat(request, refresh, secret, now):",
        "if False:",
        f"{OF_REFRESH} -k earlier_generation",
    ),
    Mutant(
        "a refresh token by its id",
        REFRESH,
        "        or not opaque_tokens.matches(parts[1], refresh.family_hash)\n",
        "",
        f"{OF_REFRESH} -k forged_family",
    ),
    Mutant(
        "a revoked refresh token",
        REFRESH,
        "if authorization.revoked_at is not None:",
        "if False:",
        "tests/handlers/protocol/test_order_of_checks.py -k refresh",
    ),
    Mutant(
        "a refresh token for ever",
        REFRESH,
        "if ends_at <= now:",
        "if False:",
        f"{OF_REFRESH} -k 'thirty or ninety'",
    ),
    Mutant(
        "a refresh that widens",
        REFRESH,
        "if not requested or not set(requested) <= set(authorization.scopes):",
        "if not requested:",
        f"{OF_REFRESH} -k 'refused_refresh or granted_at_first'",
    ),
    Mutant(
        "two refreshes at one moment",
        REFRESH,
        'expected = {"refresh.current_hash": refresh.current_hash, "revoked_at": None}',
        "expected = {}",
        f"{RACES} -k refreshes",
    ),
    Mutant(
        "a refresh token may be used again for ever",
        REFRESH,
        " or abs(now - refresh.rotated_at) < grace)",
        " or True)",
        f"{REUSE} -k while_is_over",
    ),
    Mutant(
        "a refresh token that was rotated by what no majority has is answered",
        REFRESH,
        "    request = await confirmed(request, AUTHORIZATIONS, authorization.id)\n",
        "",
        f"{LOST} -k no_majority",
    ),
    Mutant(
        "a lost answer is taken for a replay",
        "idp/oauth/grants/lost_answers.py",
        "        if was_applied:\n",
        "        if False:\n",
        f"{LOST} -k survives",
    ),
    Mutant(
        "a grant that the client may not use",
        GRANTS,
        "and grant_type not in caller.grant_types",
        "and False",
        f"{OF_SERVICES} -k needs_the_grant",
    ),
    Mutant(
        "a repeated parameter",
        GRANTS,
        "        params.refuse_repeated()\n",
        "        pass\n",
        f"{OF_CODES} -k repeated",
    ),
    Mutant(
        "a service user by its id",
        "idp/oauth/authentication/client_authentication.py",
        "credential_id = client_secrets.matching_id(user, claimed.secret, service.clock.now())",
        'credential_id = ""',
        f"{OF_SERVICES} -k wrong_secret",
    ),
    Mutant(
        "a person's key",
        "idp/oauth/grants/jwt_profile.py",
        'if user is None or user.kind != "machine":',
        "if user is None:",
        f"{OF_SERVICES} -k persons_key",
    ),
    Mutant(
        "an inactive service user by its secret",
        "idp/oauth/grants/client_credentials.py",
        "if not subjects.is_active(subject):",
        "if False:",
        f"{OF_SERVICES} -k not_active",
    ),
    Mutant(
        "an inactive service user by its key",
        "idp/oauth/grants/jwt_profile.py",
        "if subject is None or not subjects.is_active(subject):",
        "if subject is None:",
        f"{OF_SERVICES} -k not_active",
    ),
    Mutant(
        "client authentication beside an assertion",
        "idp/oauth/grants/jwt_profile.py",
        'if authorization or params.get("client_secret") or params.get("client_assertion"):',
        "if False:",
        f"{OF_SERVICES} -k beside_an_assertion",
    ),
    Mutant(
        "userinfo without openid",
        "idp/oauth/endpoints/userinfo.py",
        "if OPENID not in caller.scopes:",
        "if False:",
        f"{USERINFO} -k without_openid",
    ),
    Mutant(
        "a token in the address",
        "handlers/protocol/userinfo.py",
        'if "access_token" in self.query_params():',
        "if False:",
        f"{USERINFO} -k in_the_address",
    ),
    Mutant(
        "PKCE by plain",
        "idp/oauth/pkce.py",
        'if method != "S256":',
        "if False:",
        "tests/idp/oauth/test_pkce.py",
    ),
    Mutant(
        "a public client without PKCE",
        "idp/oauth/pkce.py",
        "        if is_required:\n",
        "        if False:\n",
        "tests/handlers/protocol/authorization/test_authorize.py -k public_client",
    ),
    Mutant(
        "a verifier without a challenge",
        "idp/oauth/pkce.py",
        "        if verifier is not None:\n",
        "        if False:\n",
        f"{OF_CODES} -k without_a_challenge",
    ),
]
