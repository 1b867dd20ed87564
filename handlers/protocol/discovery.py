"""GET /.well-known/openid-configuration: the discovery document."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from idp.foundation import i18n
from idp.limits.admission import PUBLIC
from idp.oauth.endpoints import discovery
from idp.oauth.paths import DISCOVERY


class DiscoveryHandler(SharedHandler):
    """The discovery document (OpenID Connect Discovery 4). It may be cached for a few minutes, and
    read from any origin."""

    group = PUBLIC
    any_origin = True

    async def get(self) -> None:
        self.set_header("Cache-Control", "public, max-age=300")
        # The default value would contradict Cache-Control.
        self.clear_header("Pragma")
        self._document = await discovery.published(self.service, i18n.available())
        self.set_header("Content-Type", "application/json")
        self.finish(self._document.body)

    head = get

    def compute_etag(self) -> str:
        """Returns the ETag: a client that has this document gets status 304."""
        return self._document.etag


ROUTES = [(DISCOVERY, DiscoveryHandler)]
