"""The records that a token or an authorization depends on, as one value, and as a claim.

`dependencies_of` makes the value of an authorization, `to_claims` writes it into an access token,
and `from_claims` reads it there. Whether all of it is valid is decided by `validity`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from idp.records import AccessGrounds, Actor, ApplicationUse, Authorization


class StampOwner(Struct, frozen=True):
    """A user or a client whose security stamp a token depends on: its id, and that of the
    organization that it belonged to."""

    id: str
    org_id: str


class TokenDependencies(Struct, frozen=True, kw_only=True):
    """The ids of the records that a token or authorization depends on, and the digest of their
    stamps.

    `session_id` is the session in which it was issued; whether its end matters is for the caller
    to decide. All the others must be valid: neither revoked, nor ended, nor inactive. `token_ids`
    are those of single access tokens, `pat_ids` of personal ones; `other_clients` are the clients
    that the inputs of a token exchange were issued to. For each of `uses` the user must be allowed
    to use the application, which is among `client` and `other_clients`; the first is that of
    `user` and `client`. `project_id` is the project of a first use without grounds.
    """

    stamps: str
    user: StampOwner | None = None
    client: StampOwner | None = None
    other_clients: Sequence[StampOwner] = ()
    actors: Sequence[StampOwner] = ()
    authorization_ids: Sequence[str] = ()
    session_id: str | None = None
    session_ids: Sequence[str] = ()
    token_ids: Sequence[str] = ()
    pat_ids: Sequence[str] = ()
    uses: Sequence[ApplicationUse] = ()
    project_id: str | None = None


class TokenReferences(Struct, frozen=True, omit_defaults=True):
    """The claim of an access token with the dependencies that its other claims do not name.

    A token without `user_org` has no user; one without `client_org` was issued to a service user.
    The fields from `actor_orgs` on come from a token exchange: the organizations of the actors
    (the outermost first), and the authorizations, sessions, tokens, personal access tokens,
    clients and uses of its inputs. A client is a pair of its own id and its organization's.
    `grounds` are those by which the user may use the client.
    """

    stamps: str
    authorization: str | None = None
    user_org: str | None = None
    client_org: str | None = None
    session: str | None = None
    actor_orgs: list[str] = []
    parents: list[str] = []
    sessions: list[str] = []
    tokens: list[str] = []
    pats: list[str] = []
    clients: list[tuple[str, str]] = []
    uses: list[ApplicationUse] = []
    grounds: AccessGrounds | None = None


def dependencies_of(
    authorization: Authorization, project_id: str | None = None
) -> TokenDependencies:
    """Returns the dependencies of an authorization: the records that have to be valid for it.

    Its own session is named in `session_id` alone, because the authorization outlives it.
    `project_id` is that of the client's project, for an authorization without grounds, which an
    earlier release stored.
    """
    user = StampOwner(authorization.user_id, authorization.org_id)
    client = StampOwner(authorization.client_id, authorization.client_org_id)
    actors = zip(subjects_of(authorization.actor), authorization.actor_org_ids, strict=True)
    return TokenDependencies(
        stamps=authorization.stamps,
        user=user,
        client=client,
        actors=[StampOwner(*each) for each in actors],
        authorization_ids=[authorization.id, *authorization.parent_ids],
        session_id=authorization.session_id,
        session_ids=authorization.parent_session_ids,
        token_ids=authorization.parent_token_ids,
        pat_ids=authorization.parent_pat_ids,
        other_clients=[StampOwner(*each) for each in authorization.parent_clients],
        uses=[*_own_use(user, client, authorization.grounds), *authorization.parent_uses],
        project_id=project_id,
    )


def to_claims(dependencies: TokenDependencies) -> TokenReferences:
    """Returns the claim that names these dependencies in a new token.

    It leaves out the ids of the user, the client, the actors and the token itself, which are in
    other claims.
    """
    user, client, uses = dependencies.user, dependencies.client, dependencies.uses
    # The first use of a token with a user and a client is its own: its ids are there already.
    own = uses[:1] if user and client else ()
    # A token with a session ends with it, so its own is the first of those that must be open.
    parent_sessions = (
        dependencies.session_ids[1:] if dependencies.session_id else (dependencies.session_ids)
    )
    return TokenReferences(
        stamps=dependencies.stamps,
        authorization=next(iter(dependencies.authorization_ids), None),
        user_org=user.org_id if user else None,
        client_org=client.org_id if client else None,
        session=dependencies.session_id,
        actor_orgs=[actor.org_id for actor in dependencies.actors],
        parents=list(dependencies.authorization_ids[1:]),
        sessions=list(parent_sessions),
        tokens=list(dependencies.token_ids),
        pats=list(dependencies.pat_ids),
        clients=[(each.id, each.org_id) for each in dependencies.other_clients],
        uses=list(uses[len(own) :]),
        grounds=own[0].grounds if own else None,
    )


def from_claims(
    references: TokenReferences,
    *,
    user_id: str,
    client_id: str,
    token_id: str,
    actor: Actor | None,
) -> TokenDependencies:
    """Returns the dependencies of a token with these claims; its session is one of them.

    `references` is the claim that `to_claims` returned, and the other parameters are the token's
    other claims. Nothing is verified, so they may also be those of a token that is expired or
    revoked.
    """
    user = StampOwner(user_id, references.user_org) if references.user_org else None
    client = StampOwner(client_id, references.client_org) if references.client_org else None
    actors = zip(subjects_of(actor), references.actor_orgs, strict=False)
    return TokenDependencies(
        stamps=references.stamps,
        user=user,
        client=client,
        actors=[StampOwner(*each) for each in actors],
        authorization_ids=[*_if_any(references.authorization), *references.parents],
        session_id=references.session,
        session_ids=[*_if_any(references.session), *references.sessions],
        token_ids=[token_id, *references.tokens],
        pat_ids=references.pats,
        other_clients=[StampOwner(*each) for each in references.clients],
        uses=[*_own_use(user, client, references.grounds), *references.uses],
    )


def subjects_of(actor: Actor | None) -> Iterator[str]:
    """Yields the subjects of a chain of actors (RFC 8693 4.1), the outermost first."""
    while actor is not None:
        yield actor.sub
        actor = actor.act


def _own_use(
    user: StampOwner | None, client: StampOwner | None, grounds: AccessGrounds | None
) -> list[ApplicationUse]:
    """Returns the use of the client by the user, if there are both."""
    if user is None or client is None:
        return []
    return [
        ApplicationUse(
            user_id=user.id,
            user_org_id=user.org_id,
            client_id=client.id,
            client_org_id=client.org_id,
            grounds=grounds,
        )
    ]


def _if_any(value: str | None) -> list[str]:
    return [value] if value else []
