"""The call that creates a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import (
    FieldProblem,
    InvalidArgument,
    PermissionDenied,
    Taken,
)
from idp.foundation.texts.text_folding import folded
from idp.identity.users import organizations
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.connections import forms, rules
from idp.management.connections.forms import ConnectionForm
from idp.management.connections.views import ConnectionCreated
from idp.records import Organization
from idp.records.connections import (
    CONNECTIONS,
    ConnectionKind,
    ConnectionSecrets,
    ProviderConnection,
    owner_name_key,
)
from idp.schema import answers, reading
from idp.service import Service
from idp.upstream import authorities, connection_secrets, links
from storage import Conflict, Write

FORMS: Final[Mapping[ConnectionKind, type[ConnectionForm]]] = {
    "generic_oidc": forms.GenericOidcForm,
    "google": forms.GoogleForm,
    "azure": forms.AzureForm,
    "gitlab": forms.GitlabForm,
    "gitlab_self_hosted": forms.GitlabSelfHostedForm,
}


async def create(
    service: Service, call: Call, document: object, kind: ConnectionKind, *, is_instance: bool
) -> Change[ConnectionCreated]:
    """Creates the connection that a JSON document describes, in the call's organization or for the
    installation.

    Raises InvalidArgument, PermissionDenied (only the installation chooses an id), NotFound, Taken
    (the name or the id), FailedPrecondition (there are too many).
    """
    form = reading.read(FORMS[kind], document)
    if form.id and "iam.idp.write" not in call.rights.everywhere:
        message = "the permission iam.idp.write is needed to choose an id"
        raise PermissionDenied(message, error_code="connection.id_chosen", field="id")
    secrets = new_secrets(service, form, ConnectionSecrets())

    organization = None if is_instance else await management_call.organization(service, call)
    org_id = organization.id if organization else None
    await rules.check(service, org_id, form, form.stored())
    await rules.check_limit(service, org_id)
    connection = new(service, org_id, kind, form)
    is_linked = bool(await links.count(service, connection.id, up_to=1))
    connection = structs.replace(connection, sealed_secrets=secrets, is_linked=is_linked)
    owner = org_id or call.caller.org_id
    return Change(
        ConnectionCreated(id=connection.id, details=answers.details(connection, owner)),
        [*_insertion(service, call, connection), *_guards(organization)],
        if_taken=taken,
    )


def new(
    service: Service, org_id: str | None, kind: ConnectionKind, form: ConnectionForm
) -> ProviderConnection:
    """Returns a new connection that `form` describes, without its secrets; the caller stores
    it."""
    now = service.clock.now()
    settings = form.stored()
    return ProviderConnection(
        id=form.id or service.random.id(),
        org_id=org_id,
        kind=kind,
        authority=authorities.authority_of(settings),
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
        **form_fields(org_id, form),
    )


def form_fields(org_id: str | None, form: ConnectionForm) -> dict[str, Any]:
    """Returns the fields of a connection that `form` sets, without its authority and secrets."""
    options, name_key = form.provider_options, folded(form.name)
    return {
        "name": form.name,
        "name_key": name_key,
        "owner_name_key": owner_name_key(org_id, name_key),
        "settings": form.stored(),
        "options": options.stored(),
        "mapping": options.mapping.stored(),
        "domains": tuple(dict.fromkeys(options.domains)),
        "trusted_domains": tuple(dict.fromkeys(options.trusted_domains)),
        "position": form.position,
    }


def new_secrets(
    service: Service, form: ConnectionForm, current: ConnectionSecrets
) -> ConnectionSecrets:
    """Returns the secrets of a connection that `form` describes and that had the secrets
    `current`: what the form does not set remains unchanged.

    Raises InvalidArgument if a secret is missing.
    """
    if form.client_secret:
        sealed = connection_secrets.sealed(service, form.client_secret)
        return ConnectionSecrets(client_secret=sealed, changed_at=service.clock.now())
    if form.needs_secret and current.client_secret is None:
        raise InvalidArgument([FieldProblem("field.required", "clientSecret", "is required")])
    return current


def _insertion(service: Service, call: Call, new_connection: ProviderConnection) -> list[Write]:
    payload = {
        "name": new_connection.name,
        "kind": new_connection.kind,
        "authority": new_connection.authority,
    }
    entry = AuditEntry(
        "connection.created", call.actor, new_connection.created_at, payload=payload
    )
    return events.insertion(service.random, CONNECTIONS, new_connection, entry)


def _guards(organization: Organization | None) -> list[Write]:
    return [organizations.state_unchanged(organization)] if organization else []


def taken(conflict: Conflict) -> Taken:
    """Returns the error for a name or an id that another connection has."""
    if conflict.field == "owner_name_key":
        message = "is the name of another connection"
        return Taken([FieldProblem("connection.name_taken", "name", message)])
    message = "is the id of another connection"
    return Taken([FieldProblem("connection.id_taken", "id", message)])
