"""Mutants of token exchange."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PACKAGE = "idp/oauth/grants/token_exchange"
GRANT, PARTIES, RESULTS = (f"{PACKAGE}/{name}.py" for name in ("__init__", "parties", "results"))
TESTS = "tests/handlers/protocol/tokens/test_token_exchange"
GIVEN, ACTORS, ENDS = f"{TESTS}.py", f"{TESTS}_actors.py", f"{TESTS}_ends.py"
ACTING, ACTS = "idp/oauth/tokens/acting.py", "tests/handlers/protocol/tokens/test_acting.py"
INPUTS, REFUSED = f"{TESTS}_inputs.py", f"{TESTS}_refused.py"

MUTANTS = [
    Mutant(
        "token exchange can't be switched off",
        GRANT,
        "is_offered=lambda instance: instance.allows_token_exchange",
        "is_offered=lambda instance: True",
        f"{REFUSED} -k switched_off",
    ),
    Mutant(
        "a resource is overlooked",
        GRANT,
        'if params.all("resource"):',
        "if False:",
        f"{REFUSED} -k resource",
    ),
    Mutant(
        "impersonation can't be switched off",
        GRANT,
        "if not subject.subject.instance.allows_impersonation:",
        "if False:",
        f"{ACTORS} -k off_for_every_actor",
    ),
    Mutant(
        "whoever acts already goes on when impersonation is switched off",
        ACTING,
        "if not instance.allows_impersonation:",
        "if False:",
        f"{ACTORS} -k off_for_every_actor",
    ),
    Mutant(
        "impersonation that is switched on again revives what it had ended",
        ACTING,
        "if any(each.acting_stamp != instance.acting_stamp for each in impersonations):",
        "if False:",
        f"{ACTS} -k for_good",
    ),
    Mutant(
        "whoever acts already keeps a role that is withdrawn",
        ACTING,
        "if not permissions.allow_impersonation(rights, acting.subject.user, managed):",
        "if False:",
        f"{ACTS} -k 'counts_at_the_next_request and role'",
    ),
    Mutant(
        "acting for somebody lasts as long as the family of an older release",
        ACTING,
        "authorization.acting_ends_at or authorization.created_at + MAX_LIFETIME",
        "authorization.acting_ends_at or authorization.expires_at",
        f"{ACTS} -k older_release",
    ),
    Mutant(
        "a personal token opens the API to every application",
        PARTIES,
        "allows_service_api=client.has_management_access\n        and",
        "allows_service_api=True\n        or",
        f"{GIVEN} -k personal",
    ),
    Mutant(
        "everybody may act for everybody",
        GRANT,
        "if not await permissions.may_impersonate(request.service, acting_user, user):",
        "if False:",
        f"{ACTORS} -k who_may_act",
    ),
    Mutant(
        "somebody acts for themselves",
        GRANT,
        "if actor.subject.user.id == subject.subject.user.id:",
        "if False:",
        f"{REFUSED} -k 'subject and actor'",
    ),
    Mutant(
        "exchanges follow one another for ever",
        GRANT,
        "if depth >= MAX_DEPTH:",
        "if False:",
        f"{ACTORS} -k five",
    ),
    Mutant(
        "an audience is made up",
        GRANT,
        "if not set(requested) <= {aud for audience in audiences for aud in audience}:",
        "if False:",
        f"{REFUSED} -k audience",
    ),
    Mutant(
        "a scope is made up",
        GRANT,
        "if not requested or not set(requested) <= allowed_scopes:",
        "if not requested:",
        f"{REFUSED} -k scope",
    ),
    Mutant(
        "an organization's scope lets others in",
        GRANT,
        "if not reserved_scopes.admit(config, requested, organization):",
        "if False:",
        f"{ACTORS} -k name_an_organization",
    ),
    Mutant(
        "a token for others is taken",
        PARTIES,
        "if not {client.id, client.project_id} & set(claims.aud):",
        "if False:",
        f"{INPUTS} -k another",
    ),
    Mutant(
        "the service's audience goes on",
        PARTIES,
        "audience=_without_service(service, client, claims.aud)",
        "audience=claims.aud",
        f"{GIVEN} -k own_audience",
    ),
    Mutant(
        "another client's ID token is taken",
        PARTIES,
        "if claims.aud != client.id:",
        "if False:",
        f"{INPUTS} -k another",
    ),
    Mutant(
        "a late ID token is taken",
        PARTIES,
        "if now.timestamp() >= claims.exp:",
        "if False:",
        f"{INPUTS} -k ended",
    ),
    Mutant(
        "an ID token outlives its session",
        PARTIES,
        "or session.ended_at is not None",
        "",
        f"{INPUTS} -k ended",
    ),
    Mutant(
        "an ID token outlives a new password",
        PARTIES,
        "or session.stamps != stamps",
        "",
        f"{INPUTS} -k ended",
    ),
    Mutant(
        "another client's word counts",
        PARTIES,
        "if claims.iss != client.id:",
        "if False:",
        f"{INPUTS} -k jwt",
    ),
    Mutant(
        "anybody's word counts",
        PARTIES,
        "jwt_assertions.check(service, assertion, key)",
        "assert key is not assertion",
        f"{INPUTS} -k jwt",
    ),
    Mutant(
        "a locked user is acted for",
        PARTIES,
        "if subject is None or not subjects.is_active(subject):",
        "if subject is None:",
        f"{INPUTS} -k not_active",
    ),
    Mutant(
        "a JWT counts again and again",
        RESULTS,
        "writes += [Insert(USED_VALUES, each) for each in used_values]",
        "writes += []",
        f"{ACTORS} -k names_the_subject_once",
    ),
    Mutant(
        "those who acted before are forgotten",
        RESULTS,
        "actor_chain = subject.actor\n    for",
        "actor_chain = None\n    for",
        f"{ACTORS} -k up_to_five",
    ),
    Mutant(
        "it outlives the grants it came of",
        RESULTS,
        "parent_ids=_union(each.authorization_ids for each in dependencies)",
        "parent_ids=[]",
        f"{ENDS} -k 'anything and grant'",
    ),
    Mutant(
        "it outlives the sessions it came of",
        RESULTS,
        "parent_session_ids=_union(each.session_ids for each in dependencies)",
        "parent_session_ids=[]",
        f"{ENDS} -k 'anything and session'",
    ),
    Mutant(
        "it outlives the tokens it came of",
        RESULTS,
        "parent_token_ids=_union(each.token_ids for each in dependencies)",
        "parent_token_ids=[]",
        f"{ENDS} -k 'anything and token'",
    ),
    Mutant(
        "it outlives the personal tokens it came of",
        RESULTS,
        "parent_pat_ids=_union(each.pat_ids for each in dependencies)",
        "parent_pat_ids=[]",
        f"{ENDS} -k personal",
    ),
    Mutant(
        "it outlives its inputs",
        RESULTS,
        "_earliest([now + token_lifetime, *[party.ends_at for party in inputs]])",
        "_earliest([now + token_lifetime])",
        f"{GIVEN} -k ends_with_what",
    ),
    Mutant(
        "a revoked token is forgotten too soon",
        "idp/oauth/endpoints/revocation.py",
        "expires_at=expires_at + _extra_lifetime(service.config)",
        "expires_at=expires_at",
        f"{ENDS} -k revives_nothing",
    ),
    Mutant(
        "credentials are changed in the name of another",
        "idp/management/call.py",
        "if bearer.token.act is not None and permission not in _FOR_ACTORS:",
        "if False:",
        f"{ACTORS} -k nobody_changes",
    ),
]
