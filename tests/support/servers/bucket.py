"""A server on loopback that answers like object storage, correctly or not."""

from __future__ import annotations

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

MEDIA, UPLOAD = "GET /acme/", "PUT /acme/"
EMAIL = "exporter@acme.iam.gserviceaccount.com"
PEM = (
    rsa.generate_private_key(public_exponent=65537, key_size=2048)
    .private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    .decode()
)
ACCOUNT = {
    "type": "service_account",
    "project_id": "acme",
    "private_key_id": "0a1b2c",
    "private_key": PEM,
    "client_email": EMAIL,
    "client_id": "1",
    "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    "token_uri": "https://oauth2.googleapis.com/token",
    "universe_domain": "googleapis.com",
}


def packed(document):
    """A service account's document as a call brings it."""
    return base64.b64encode(json.dumps(document).encode()).decode()


class Handler(BaseHTTPRequestHandler):
    """Has `server.answers` answer, by what the request's first line begins with."""

    protocol_version = "HTTP/1.1"

    def handle_one_request(self):
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        line = self.requestline
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((line, headers, body))
        for beginning, answer in self.server.answers.items():
            if line.startswith(beginning):
                answer(self)
                return
        told(404)(self)

    def log_message(self, *_):
        """No client reads it."""

    def setup(self):
        super().setup()
        self.server.connections += 1


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.seen, self.connections = {}, [], 0
        self.is_done = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """The server closes the connection."""


@contextmanager
def serving():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.is_done.set()
        server.shutdown()
        server.server_close()
        thread.join()


HEADERS = {"ETag": '"7"', "Last-Modified": "Sun, 29 Nov 2026 09:00:00 GMT"}


def told(status, body=b"", **headers):
    """An answer, with the headers of an object."""

    def answer(handler):
        handler.send_response(status)
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in ({"Content-Length": str(len(body))} | HEADERS | own).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def endless(handler):
    """An answer that never ends."""
    handler.send_response(200)
    for name, value in HEADERS.items():
        handler.send_header(name, value)
    handler.end_headers()
    while not handler.server.is_done.is_set():
        handler.wfile.write(b"x" * 65536)


def slow(handler):
    """An answer whose bytes arrive slowly."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.is_done.wait(0.05):
        handler.wfile.write(b"x")


def silent(handler):
    """No answer at all."""
    handler.server.is_done.wait()


def holds(bucket, data):
    """The bucket has one object."""
    bucket.answers = {MEDIA: told(200, data)}


def takes(bucket):
    """The bucket keeps what is sent."""
    stored = []

    def answer(handler):
        stored.append(bucket.seen[-1][2])
        told(200)(handler)

    bucket.answers = {UPLOAD: answer}
    return stored
