"""Mails about connections to other identity providers. No mail contains a text that a user
entered."""

from __future__ import annotations

from urllib.parse import urlsplit

from idp.foundation.i18n import message
from idp.mail.messages import MessageLink
from idp.mail.templates.security import NOT_YOU, account, notification
from idp.records import User
from idp.records.connections import ProviderConnection
from idp.service import Service
from storage import Write


def trust_changed(service: Service, user: User, connection: ProviderConnection) -> list[Write]:
    """Returns the writes of the message, to an owner, that whom a connection trusts which users
    are linked to was changed."""
    issuer = service.config.issuer
    path = "connections" if connection.org_id else "installation/connections"
    subject = message("The provider settings of a connection were changed", context="mail")
    text = message(
        "The issuer, an address or the client ID of a connection at %(host)s was changed. Anyone"
        " who controls that provider can sign in as the users linked to it.",
        context="mail",
        host=urlsplit(issuer).netloc,
    )
    link = MessageLink(
        message("The connection:", context="mail"),
        f"{issuer}/ui/console/{path}/{connection.id}",
    )
    warning = message("If you didn't expect this, deactivate the connection now.", context="mail")
    return notification(service, user, "connection_trust_changed", subject, text, link, warning)


def linked(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message, to the user, that another identity provider can be used
    to sign in to the account."""
    host = urlsplit(service.config.issuer).netloc
    subject = message("A new authentication method for your account", context="mail")
    text = message(
        "You can now also sign in to your account at %(host)s with the identity "
        "provider that you just used.",
        context="mail",
        host=host,
    )
    return notification(service, user, "identity_linked", subject, text, account(service), NOT_YOU)


def unlinked(service: Service, user: User) -> list[Write]:
    """Returns the writes of the message, to the user, that one of the linked identities can no
    longer be used to sign in to the account."""
    host = urlsplit(service.config.issuer).netloc
    subject = message("An identity provider was removed from your account", context="mail")
    text = message(
        "An identity provider was removed from your account at %(host)s. You can no longer sign in"
        " with it.",
        context="mail",
        host=host,
    )
    parts = (account(service), NOT_YOU)
    return notification(service, user, "identity_unlinked", subject, text, *parts)
