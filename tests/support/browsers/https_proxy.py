"""The proxy through which a browser reaches a public issuer that runs on this machine."""

from __future__ import annotations

import httpx


class Through(httpx.AsyncHTTPTransport):
    """The proxy in front of a public issuer: it terminates TLS and preserves the Host header."""

    def __init__(self, port):
        super().__init__()
        self.port = port

    async def handle_async_request(self, request):
        url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self.port)
        inner = httpx.Request(request.method, url, headers=request.headers, stream=request.stream)
        return await super().handle_async_request(inner)
