"""The identity of a person at another provider, read from the provider's claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from idp.foundation import domain_names, i18n
from idp.foundation.opaque_tokens import Confidential
from idp.foundation.texts.text_folding import folded
from idp.keys.master_key import WrongKey
from idp.records import sealed_fields
from idp.records.connections import (
    AzureSettings,
    ClaimMapping,
    GoogleSettings,
    ProviderConnection,
)
from idp.schema.field_rules import EmailRule, FieldRefused, Rule, Text
from idp.service import Service
from idp.upstream.presets.addresses import AZURE_ANY_TENANT
from idp.upstream.refused import UpstreamRefused

_PURPOSE: Final = sealed_fields.UPSTREAM_IDENTITY.purpose
_GMAIL: Final = "gmail.com"
EmailTrust: TypeAlias = Literal[
    "trusted", "none", "other_claim", "not_verified", "domain_not_trusted", "hosted_domain"
]
_MAX_OBJECT_ID: Final = 200
# The sources of the values that the connection's mapping does not name.
_DEFAULT_MAPPING: Final = ClaimMapping(
    user_name=("preferred_username", "email"),
    given_name=("given_name",),
    family_name=("family_name",),
    display_name=("name",),
    nick_name=("nickname",),
    preferred_language=("locale",),
    email=("email",),
)
_RULES: Final[Mapping[str, Rule]] = {
    "user_name": Text(1),
    "given_name": Text(1),
    "family_name": Text(1),
    "display_name": Text(1),
    "nick_name": Text(1),
    "preferred_language": Text(),
    "email": EmailRule(),
}


class Identity(Confidential, frozen=True):
    """A person at another provider, as the claims of one sign-in describe them.

    `external_id` identifies the person with `authority` (`_external_id`). The other values are
    empty where the provider states none that can be used. `is_email_trusted` is whether the
    provider has verified the address and the connection trusts it for that domain. `stamp` is that
    of the connection when the provider answered.
    """

    connection_id: str
    authority: str
    external_id: str
    user_name: str = ""
    given_name: str = ""
    family_name: str = ""
    display_name: str = ""
    nick_name: str = ""
    preferred_language: str = ""
    email: str = ""
    is_email_trusted: bool = False
    stamp: str = ""

    @property
    def label(self) -> str:
        """The text by which a page names the person."""
        return self.email or self.user_name or self.display_name or self.external_id


def from_claims(connection: ProviderConnection, claims: Mapping[str, Any]) -> Identity:
    """Returns the identity that the verified claims of a connection's provider describe. Raises
    UpstreamRefused."""
    values = {found.field: found.value for found in mapped_values(connection, claims)}
    return Identity(
        connection_id=connection.id,
        authority=connection.authority,
        external_id=_external_id(connection, claims),
        is_email_trusted=email_trust(connection, claims) == "trusted",
        stamp=connection.stamp,
        **values,
    )


class MappedValue(NamedTuple):
    """The value of a field of `Identity`, and the claim or JSON pointer that it comes from; both
    are empty if the provider states none that can be used."""

    field: str
    value: str = ""
    source: str = ""


def mapped_values(
    connection: ProviderConnection, claims: Mapping[str, Any]
) -> Sequence[MappedValue]:
    """Returns the values that a connection's mapping finds in claims, by the fields of
    `Identity`."""
    found = [_mapped(connection, claims, field, rule) for field, rule in _RULES.items()]
    return [_with_known_language(each) for each in found]


def _with_known_language(found: MappedValue) -> MappedValue:
    if found.field != "preferred_language":
        return found
    language = i18n.lookup(found.value, i18n.available())
    return found._replace(value=language) if language else MappedValue(found.field)


def _external_id(connection: ProviderConnection, claims: Mapping[str, Any]) -> str:
    """Returns the id of a person at the provider: `sub`, but at Microsoft Entra ID `oid`, which
    stays when the application is registered again. It is unique in one tenant. Raises
    UpstreamRefused.
    """
    if not isinstance(connection.settings, AzureSettings):
        return str(claims["sub"])
    object_id = claims.get("oid")
    is_usable = isinstance(object_id, str) and 0 < len(object_id) <= _MAX_OBJECT_ID
    if not is_usable or not str(object_id).isprintable():
        raise UpstreamRefused("id_token_subject", "the ID token: oid is no text")
    is_multi_tenant = AZURE_ANY_TENANT in connection.authority
    return f"{claims['tid']}:{object_id}" if is_multi_tenant else str(object_id)


def _mapped(
    connection: ProviderConnection, claims: Mapping[str, Any], field: str, rule: Rule
) -> MappedValue:
    """Returns the first value of a field that can be used."""
    sources: Sequence[str] = getattr(connection.mapping, field) or getattr(_DEFAULT_MAPPING, field)
    for source in sources:
        value = _at(claims, source)
        if not isinstance(value, str) or not value.strip():
            continue
        try:
            return MappedValue(field, str(rule.read(value.strip())), source)
        except FieldRefused:
            continue
    return MappedValue(field)


def _at(claims: Mapping[str, Any], source: str) -> object:
    """Returns the value at a JSON pointer (RFC 6901), or of the claim with this name."""
    if not source.startswith("/"):
        return claims.get(source)
    value: object = claims
    for part in source[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isascii() and name.isdigit():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            return None
    return value


def email_trust(connection: ProviderConnection, claims: Mapping[str, Any]) -> EmailTrust:
    """Returns whether the address in the claims counts as verified (`trusted`), or why not: there
    is `none`, it comes from an `other_claim` than the one that the provider verifies, or it is
    `not_verified`, in a `domain_not_trusted`, or not in Google's `hosted_domain`."""
    email = _mapped(connection, claims, "email", _RULES["email"]).value
    if not email:
        return "none"
    # The claim `email_verified` is about the claim `email`, not about another address.
    if folded(str(claims.get("email", "")).strip()) != folded(email):
        return "other_claim"
    if not _is_verified(connection, claims):
        return "not_verified"
    domain = domain_names.key(email.rpartition("@")[2])
    if domain not in connection.trusted_domains:
        return "domain_not_trusted"
    # Google verifies addresses of other domains once, and their owner may change.
    is_google = isinstance(connection.settings, GoogleSettings)
    hosted_domain = domain_names.folded(str(claims.get("hd")))
    is_own = not is_google or domain_names.folded(domain) in (hosted_domain, _GMAIL)
    return "trusted" if is_own else "hosted_domain"


def _is_verified(connection: ProviderConnection, claims: Mapping[str, Any]) -> bool:
    settings = connection.settings
    if isinstance(settings, AzureSettings):
        # Microsoft does not send email_verified; `xms_edov` says that the tenant owns the domain.
        is_tenant_trusted = settings.is_email_verified and settings.tenants == "tenant"
        return is_tenant_trusted or claims.get("xms_edov") in (True, 1, "1", "true")
    return claims.get("email_verified") in (True, "true")


def sealed(service: Service, identity: Identity) -> str:
    """Returns an identity encrypted for storage in a sign-in; `opened` decrypts it."""
    return service.master_key.seal(msgspec.json.encode(identity), _PURPOSE)


def opened(service: Service, stored: str | None) -> Identity | None:
    """Returns the identity that `sealed` has encrypted; None for None, or what another
    installation has encrypted."""
    if stored is None:
        return None
    try:
        return msgspec.json.decode(service.master_key.open(stored, _PURPOSE), type=Identity)
    except (WrongKey, msgspec.MsgspecError):
        return None
