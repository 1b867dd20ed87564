"""The texts of a message as the recipient's organization has set them."""

from __future__ import annotations

from urllib.parse import urlsplit

from idp.mail import wording_rules
from idp.mail.messages import Wording
from idp.policies import effective
from idp.records import MessageTextRules
from idp.service import Service


async def wording(
    service: Service, org_id: str, message_type: str, language: str, application: str | None = None
) -> Wording:
    """Returns the texts that the organization, or else the installation, has set for a message of
    this type (one of `wording_rules.TYPES`) in this language, with their placeholders replaced.

    `application` is the name of the application that the message is for, None if there is none.
    """
    own, default = await effective.find(service, org_id, "message_text", message_type, language)
    policy = own or default
    if policy is None or not isinstance(policy.rules, MessageTextRules):
        return Wording()
    host = urlsplit(service.config.issuer).netloc
    values = {"Host": host, "Application": application or host}
    texts = {name: getattr(policy.rules, name) for name in Wording.__struct_fields__}
    return Wording(**{name: wording_rules.filled(text, values) for name, text in texts.items()})
