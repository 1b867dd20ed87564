"""An OpenID Connect provider in this process, which answers as a test configures, also
incorrectly."""

from __future__ import annotations

import hmac
import json
import socket
from functools import cache
from urllib.parse import parse_qsl, urlsplit

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from jwcrypto import jwk
from jwcrypto.common import base64url_decode, base64url_encode
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from tests.support import service
from tests.support.browsers.visitor import Page

CLIENT_ID = "idp at corp"
ACCESS_TOKEN = "an-access-token-of-the-provider"  # noqa: S105 - of a test
CLIENT_SECRET = "a secret of: the provider"  # noqa: S105 - of a test


class HostileProvider:
    """`claims` and `userinfo` are added to what it states (None leaves a claim out), `answers`
    replaces an answer at a path by status and body, and `discovery` changes its document."""

    def __init__(self, clock) -> None:
        self.clock = clock
        self.key = rsa()
        self.keys, self.signing_key = [self.key], self.key
        self.claims, self.userinfo, self.header, self.discovery = {}, {}, {}, {}
        self.answers, self.token_response, self.calls = {}, {}, []
        self.of_keys = {}  # further members of each key
        self.held = {}  # by path, an event until which it does not answer
        self.nonces = {}  # by code, where several sign-ins are under way
        self.algorithm, self.authorization = "RS256", {}
        self.make_token = lambda right: right
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setblocking(False)
        self.issuer = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self._server = HTTPServer(Application([(".*", _Answer, {"provider": self})]))
        self._server.add_socket(listening)

    async def close(self) -> None:
        self._server.stop()
        await self._server.close_all_connections()

    def answer_at(self, page: Page, **changes) -> str:
        """The address to which it sends the browser back that has come with this redirect."""
        parts = urlsplit(page.location)
        assert f"{parts.scheme}://{parts.netloc}" == self.issuer, page.location
        self.authorization = dict(parse_qsl(parts.query))
        sent = {"code": "a code", "state": self.authorization["state"]} | changes
        query = "&".join(f"{name}={value}" for name, value in sent.items() if value is not None)
        return f"{self.authorization['redirect_uri']}?{query}"

    def id_token(self, code: str = "") -> str:
        now = int(self.clock.now().timestamp())
        claims = {
            "iss": self.issuer,
            "sub": "person-1",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": self.nonces.get(code) or self.authorization.get("nonce"),
        } | self.claims
        stated = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": self.algorithm, "kid": "k1"} | self.header
        sent = {name: value for name, value in header.items() if value is not None}
        signed = ".".join(encoded(json.dumps(each)) for each in (sent, stated))
        return f"{signed}.{encoded(self._signature(signed.encode()))}"

    def _signature(self, data: bytes) -> bytes:
        if self.algorithm == "HS256":
            secret = base64url_decode(json.loads(self.signing_key.export())["k"])
            return hmac.digest(secret, data, "sha256")
        key = self.signing_key.get_op_key("sign")
        return key.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def document(self, path: str, code: str = "") -> object:
        if path.endswith("/.well-known/openid-configuration"):
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
            } | self.discovery
        if path == "/keys":
            return {"keys": [json.loads(key.export_public()) | self.of_keys for key in self.keys]}
        if path == "/token":
            made = {
                "token_type": "Bearer",
                "access_token": ACCESS_TOKEN,
                "id_token": self.make_token(self.id_token(code)),
            }
            return made | self.token_response
        return {"sub": "person-1"} | self.userinfo


def encoded(data: str | bytes) -> str:
    return base64url_encode(data)


@cache
def rsa(size: int = 2048, number: int = 1) -> jwk.JWK:
    """A key with the id k and this number; made once, because that takes long."""
    made = service.make_key(public_exponent=65537, key_size=size)
    return renamed(jwk.JWK.from_pyca(made), f"k{number}")


def renamed(key: jwk.JWK, key_id: str) -> jwk.JWK:
    return jwk.JWK(**{**json.loads(key.export()), "kid": key_id})


def elliptic() -> jwk.JWK:
    return jwk.JWK.generate(kty="EC", crv="P-256", kid="k1")


class _Answer(RequestHandler):
    def initialize(self, provider: HostileProvider) -> None:
        self.provider = provider

    async def get(self) -> None:
        path = self.request.path
        form = dict(parse_qsl(self.request.body.decode()))
        self.provider.calls.append((path, form, dict(self.request.headers)))
        if path in self.provider.held:
            await self.provider.held[path].wait()
        status, body = self.provider.answers.get(path, (200, None))
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        if body is None:
            body = msgspec.json.encode(self.provider.document(path, form.get("code", "")))
        self.finish(body)

    post = get
