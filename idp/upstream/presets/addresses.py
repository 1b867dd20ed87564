"""The issuers and endpoints of providers that the kind of a connection names."""

from __future__ import annotations

from typing import Final

GOOGLE_ISSUER: Final = "https://accounts.google.com"
GITLAB_ISSUER: Final = "https://gitlab.com"
AZURE_LOGIN: Final = "https://login.microsoftonline.com"
# The placeholder for the tenant in the issuer of a discovery document for several tenants.
AZURE_ANY_TENANT: Final = "{tenantid}"
# The tenant of all personal accounts.
AZURE_CONSUMERS: Final = "9188040d-6c67-4c5b-b112-36a304b66dad"


def azure_issuer(tenant: str) -> str:
    """Returns the issuer of a tenant of Microsoft Entra ID, by its id."""
    return f"{AZURE_LOGIN}/{tenant}/v2.0"


def keycloak_issuer(base_url: str, realm: str) -> str:
    """Returns the issuer of a realm at a Keycloak."""
    return f"{base_url.rstrip('/')}/realms/{realm}"


def okta_issuer(domain: str, authorization_server: str) -> str:
    """Returns the issuer of an Okta domain, or of an authorization server there if one is
    named."""
    base = f"https://{domain}"
    return f"{base}/oauth2/{authorization_server}" if authorization_server else base
