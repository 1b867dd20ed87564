"""Mutants of the endpoints that a browser opens: authorize, with and without a reference, and the
end of a session."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

REQUEST = "idp/oauth/endpoints/authorization_request.py"
REGISTERED = "idp/oauth/endpoints/redirect_uri_match.py"
PUSHING = "idp/oauth/endpoints/pushed_authorization.py"
STEPS = "idp/oauth/sign_in/next_step.py"
CONSENTS = "idp/oauth/sign_in/consents.py"
LOGOUT = "idp/oauth/endpoints/end_session.py"
ID_TOKENS = "idp/oauth/tokens/id_tokens.py"
AUTHORIZE = "tests/handlers/protocol/authorization/test_authorize.py"
FORM_POST = "tests/handlers/protocol/authorization/test_form_post.py"
OF_ORGANIZATIONS = "tests/handlers/protocol/authorization/test_organization_scopes.py"
SESSIONS = "tests/handlers/protocol/authorization/test_authorize_sessions.py"
UNUSABLE = "tests/handlers/protocol/authorization/test_authorize_unusable.py"
IMPLICIT = "tests/handlers/protocol/authorization/test_implicit.py"
PAR = "tests/handlers/protocol/authorization/test_par.py"
CONSENT = "tests/handlers/login/test_consent.py"
END_SESSION = "tests/handlers/protocol/test_end_session.py"
REFUSED = f"{AUTHORIZE} -k goes_back_to_the_client_and_leaves_nothing"

MUTANTS = [
    Mutant(
        "any redirect_uri",
        REQUEST,
        "if not is_registered(client, redirect_uri, registered):",
        "if False:",
        f"{UNUSABLE} -k unusable_redirect_uri",
    ),
    Mutant(
        "any port of this machine",
        REGISTERED,
        "if sent is None or not _may_differ(client, sent[0]):",
        "if sent is None:",
        "tests/handlers/protocol/authorization/test_loopback_redirects.py",
    ),
    Mutant(
        "any port of localhost",
        REGISTERED,
        "(is_native and origin != _LOCALHOST)",
        "is_native",
        "tests/handlers/protocol/authorization/test_loopback_redirects.py",
    ),
    Mutant(
        "an inactive client begins sign-ins",
        "idp/oauth/endpoints/authorization.py",
        'if client is None or client.state != "active":',
        "if client is None:",
        f"{UNUSABLE} -k inactive",
    ),
    Mutant(
        "a repeated parameter at authorize",
        "idp/oauth/endpoints/authorization.py",
        "            params.refuse_repeated()\n",
        "            pass\n",
        "tests/handlers/protocol/authorization/test_authorize_wishes.py -k repeated",
    ),
    Mutant(
        "any response type",
        REQUEST,
        "if response_type not in allowed:",
        "if False:",
        f"{IMPLICIT} -k 'nowhere_else or signs_nobody_in'",
    ),
    Mutant(
        "an implicit type without its grant",
        REQUEST,
        "if _grant_of(each) in client.grant_types",
        "if True",
        f"{IMPLICIT} -k nowhere_else",
    ),
    Mutant(
        "a request without openid",
        REQUEST,
        "if scopes.OPENID not in requested:",
        "if False:",
        REFUSED,
    ),
    Mutant(
        "a request object is overlooked",
        REQUEST,
        'if request.params.get("request") is not None:',
        "if False:",
        REFUSED,
    ),
    Mutant(
        "a request_uri is overlooked",
        REQUEST,
        'if request.params.get("request_uri") is not None:',
        "if False:",
        REFUSED,
    ),
    Mutant(
        "an ID token without a nonce",
        REQUEST,
        "if nonce is None and not _has_code(request):",
        "if False:",
        f"{IMPLICIT} -k nonce",
    ),
    Mutant(
        "a token in the query",
        REQUEST,
        'if sent == "query" and mode != sent:',
        "if False:",
        f"{AUTHORIZE} {FORM_POST} -k 'carry_tokens or in_a_query'",
    ),
    Mutant(
        "prompt none beside another",
        REQUEST,
        'if "none" in prompt and len(prompt) > 1:',
        "if False:",
        REFUSED,
    ),
    Mutant(
        "any prompt",
        REQUEST,
        "if not set(prompt) <= set(PROMPTS):",
        "if False:",
        REFUSED,
    ),
    Mutant(
        "a request that was not pushed",
        REQUEST,
        "if request.client.requires_pushed_requests and not request.is_pushed:",
        "if False:",
        f"{PAR} -k demanded",
    ),
    Mutant(
        "a reference of another client",
        PUSHING,
        "if pushed.client_id != client.id:",
        "if False:",
        f"{PAR} -k another_client",
    ),
    Mutant(
        "a reference twice at one moment",
        PUSHING,
        'expected = {"completed_at": None, "agent_id": request.agent_id}',
        'expected = {"agent_id": request.agent_id}',
        "tests/flows/test_races.py -k bring_a_reference",
    ),
    Mutant(
        "prompt none shows a page",
        STEPS,
        '    if "none" in request.prompt:\n'
        "        return _decide_silently(config, request, live_sessions, now, org_id)\n",
        "",
        f"{SESSIONS} -k prompt_none",
    ),
    Mutant(
        "several sessions and no question",
        STEPS,
        "    if len(matching) > 1:\n",
        "    if False:\n",
        f"{SESSIONS} -k several_sessions",
    ),
    Mutant(
        "prompt login asks nothing",
        STEPS,
        '    if "login" in request.prompt:\n        return False\n',
        "",
        f"{SESSIONS} -k prompt_login",
    ),
    Mutant(
        "max_age counts for nothing",
        STEPS,
        "    if request.max_age is not None:\n",
        "    if False:\n",
        f"{SESSIONS} -k max_age",
    ),
    Mutant(
        "another user than the hinted one",
        STEPS,
        "if request.hinted_user_id not in (None, chosen.subject.user.id):",
        "if False:",
        f"{SESSIONS} -k 'hinted or another_user'",
    ),
    Mutant(
        "a user of another organization",
        STEPS,
        "        if not _is_admitted(config, request, chosen):\n",
        "        if False:\n",
        f"{OF_ORGANIZATIONS} tests/idp/oauth/sign_in/test_next_step.py",
    ),
    Mutant(
        "a return is never confirmed",
        CONSENTS,
        "must_confirm = _must_confirm(client, request, live_session)",
        "must_confirm = False",
        "tests/handlers/protocol/authorization/test_app_returns.py -k is_confirmed_in_each",
    ),
    Mutant(
        "consent is never asked for",
        CONSENTS,
        "is_given = not client.is_third_party or await",
        "is_given = True or await",
        f"{CONSENT} -k of_others_is_asked",
    ),
    Mutant(
        "consent to one scope is consent to all",
        CONSENTS,
        "if consent is None or not set(request.scopes) <= set(consent.scopes):",
        "if consent is None:",
        f"{CONSENT} -k more_scopes",
    ),
    Mutant(
        "a hint's signature is not verified",
        ID_TOKENS,
        "    jws.verify(key, parsed)\n",
        "",
        f"{SESSIONS} -k did_not_make",
    ),
    Mutant(
        "a logout to anywhere",
        LOGOUT,
        "    if not is_registered(client, uri, registered):\n",
        "    if False:\n",
        f"{END_SESSION} -k refused_logout",
    ),
    Mutant(
        "client_id may differ from azp",
        LOGOUT,
        "if hint is not None and client_id is not None and hint.azp != client_id:",
        "if False:",
        f"{END_SESSION} -k refused_logout",
    ),
]
