"""Limits on the links that callers put into mails.

A mail is sent in the name of this service, so it must not lead to an arbitrary page.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from idp.clients.web_origins import origin_of
from idp.foundation.errors import FieldProblem
from idp.identity.users import email_verification
from idp.records import APPLICATIONS, CLIENT_ORIGINS
from idp.service import Service

_MAX_APPLICATIONS = 100  # applications that share an origin


async def problems(
    service: Service, org_id: str | None, template: str | None, path: str
) -> list[FieldProblem]:
    """Returns the problems of a link template for a mail to a person of the organization `org_id`;
    none if `template` is None. `path` is the JSON path of the template in the request.

    A link may lead to this service, to the origins of the organization's applications, and to
    those of the setting `mail_link_origins`; on a loopback issuer, anywhere.
    """
    if not template:
        return []
    try:
        email_verification.check_url_template(service.config, template)
    except email_verification.UrlTemplateRefused as refused:
        return [FieldProblem(refused.error_code, path, refused.message)]
    if await _is_allowed(service, org_id, template):
        return []
    message = "must be on an origin of an application of the organization, or of mail_link_origins"
    return [FieldProblem("url_template.origin", path, message)]


async def _is_allowed(service: Service, org_id: str | None, template: str) -> bool:
    config, parts = service.config, urlsplit(template)
    origin = origin_of(f"{parts.scheme}://{parts.netloc}")
    if config.is_loopback or origin in (config.origin, *config.mail_link_origins):
        return True
    page = await service.store.find(CLIENT_ORIGINS, {"origin": origin}, limit=_MAX_APPLICATIONS)
    clients = await service.store.get_many(
        [(APPLICATIONS, each.client_id) for each in page.records]
    )
    # Another organization's application must not decide where mails of this one lead.
    return any(each and each.org_id == org_id and each.state == "active" for each in clients)
