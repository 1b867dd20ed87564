"""The authority of a connection: the issuer of its identities' ids.

An identity is known by connection, authority and id. So if a connection is pointed to another
provider, its ids there are other identities.
"""

from __future__ import annotations

from idp.records.connections import (
    AzureSettings,
    ConnectionSettings,
    GenericOidcSettings,
    GitlabSelfHostedSettings,
    GitlabSettings,
    GoogleSettings,
)
from idp.upstream.presets import addresses


def authority_of(settings: ConnectionSettings) -> str:
    """Returns the authority of a connection with these settings: the issuer of its provider.

    Of several tenants of Microsoft Entra ID it is the text that their issuers have in common, with
    `{tenantid}` in place of the tenant.
    """
    match settings:
        case GenericOidcSettings(issuer=issuer) | GitlabSelfHostedSettings(issuer=issuer):
            return issuer
        case AzureSettings(tenants="tenant", tenant_id=tenant):
            return addresses.azure_issuer(tenant)
        case AzureSettings(tenants="consumers"):
            return addresses.azure_issuer(addresses.AZURE_CONSUMERS)
        case AzureSettings():
            return addresses.azure_issuer(addresses.AZURE_ANY_TENANT)
        case GoogleSettings():
            return addresses.GOOGLE_ISSUER
        case GitlabSettings():
            return addresses.GITLAB_ISSUER
