"""GET /.well-known/openid-configuration: the discovery document."""

from __future__ import annotations

from handlers.http.admission import PUBLIC
from handlers.http.cors import SharedHandler
from idp.foundation import i18n
from idp.oauth.endpoints import discovery
from idp.oauth.paths import DISCOVERY
from idp.records import INSTANCE_ID, INSTANCES


class DiscoveryHandler(SharedHandler):
    """The discovery document (OpenID Connect Discovery 4). It may be cached for a few minutes, and
    read from any origin."""

    group = PUBLIC
    any_origin = True

    async def get(self) -> None:
        self.set_header("Cache-Control", "public, max-age=300")
        # The default value would contradict Cache-Control.
        self.clear_header("Pragma")
        instance = await self.service.store.get(INSTANCES, INSTANCE_ID)
        self.answer(discovery.document(self.service.config, instance, i18n.available()))

    head = get


ROUTES = [(DISCOVERY, DiscoveryHandler)]
