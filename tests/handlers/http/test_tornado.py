"""What replaces Tornado's own code gives the same result."""

from __future__ import annotations

from asyncio import Future

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from handlers import api
from handlers.app import LOCAL_ROUTES, ROUTES
from handlers.http.slim_handler import SlimHandler
from handlers.pages.not_found import MissingHandler
from handlers.protocol.userinfo import UserinfoHandler


class Peer:
    """Where a connection comes from."""

    remote_ip = "127.0.0.1"


class Connection:
    """As much of a connection as a handler is made with."""

    context = Peer()

    head = None
    has_arrived = True

    def __init__(self):
        self.sent = []

    def set_close_callback(self, callback):
        pass

    def write_headers(self, start_line, headers, chunk):
        own = ("Server", "Date", "Content-Type")
        lines = sorted(line for line in headers.get_all() if line[0] not in own)
        self.sent.append((start_line.code, start_line.reason, lines, chunk))
        return done()

    def write(self, chunk):
        self.sent.append(chunk)
        return done()

    def finish(self):
        self.sent.append("finished")


def done():
    future = Future()
    future.set_result(None)
    return future


def get(path, method="GET", **fields):
    line = RequestStartLine(method, path, "HTTP/1.1")
    headers = HTTPHeaders(Host="localhost")
    headers.update({name.replace("_", "-"): value for name, value in fields.items()})
    return HTTPServerRequest(start_line=line, headers=headers, connection=Connection())


def found(app, path):
    return app.find_handler(get(path)).handler_class


@pytest.fixture(scope="module")
def tornados():
    """An application of the same addresses that finds its handlers as Tornado does."""
    routes = [*ROUTES, *LOCAL_ROUTES, *api.ROUTES]
    return Application(routes, default_handler_class=MissingHandler)


def test_a_fixed_address_has_the_handler_that_tornado_would_find(server, tornados):
    fixed = [path for path, *_ in [*ROUTES, *LOCAL_ROUTES] if "(" not in path]

    assert len(fixed) > 20
    for path in fixed:
        assert found(server.app, path) is found(tornados, path), path


@pytest.mark.parametrize(
    "path", ["/oauth/v2/token/", "/oauth/v2/tokens", "/v2/users/somebody", "/x"]
)
def test_any_other_address_is_matched_as_tornado_does(server, tornados, path):
    assert found(server.app, path) is found(tornados, path)


def test_a_handler_starts_with_the_attributes_of_tornados(server):
    request = get("/oidc/v1/userinfo")
    bare = RequestHandler(server.app, request)
    ours = UserinfoHandler(server.app, request)

    for handler, kept in ((bare, ()), (ours, ("app", "service"))):
        names = ("application", "request", *kept)
        handler.__dict__ = {name: vars(handler)[name] for name in names}
        handler.clear()

    assert set(vars(ours)) == set(vars(bare)) | {"app", "service"}
    assert (ours._status_code, ours._reason, ours._write_buffer) == (200, "OK", [])


class WithTag:
    """A handler whose responses of status 200 have an entity tag."""

    def compute_etag(self):
        return '"tag"'


class WithoutTag:
    """A handler whose responses have none."""

    def compute_etag(self):
        return None


def in_parts(handler):
    handler.write("one ")
    handler.flush()
    handler.write("two")
    handler.finish()


def with_cookies(handler):
    handler.set_cookie("a", "1")
    handler.set_cookie("b", "2", httponly=True)
    handler.finish("body")


def without_body(handler):
    handler.set_status(204)
    handler.set_header("Content-Language", "en")
    handler.finish()


def with_own_length(handler):
    handler.set_header("Content-Length", "4")
    handler.finish(b"body")


def with_own_tag(handler):
    handler.set_header("Etag", '"own"')
    handler.finish("body")


def refused(handler):
    handler.set_status(403)
    handler.set_header("X-Repeated", "1")
    handler.add_header("X-Repeated", "2")
    handler.finish({"error": "no"})


def cleared(handler):
    handler.set_header("X-Other", "1")
    handler.clear()
    handler.finish("body")


RESPONSES = [in_parts, with_cookies, without_body, with_own_length, with_own_tag, refused, cleared]
REQUESTS = [
    {},
    {"method": "HEAD"},
    {"method": "POST"},
    {"If_None_Match": '"tag"'},
    {"If_None_Match": '"other", W/"tag"'},
    {"If_None_Match": '"other"'},
    {"If_None_Match": "*"},
    {"method": "POST", "If_None_Match": '"tag"'},
]


def a_handler(base, request, kind=WithoutTag):
    """A handler of an application without routes, which writes no log."""
    handler = type("Handler", (kind, base), {"_log": lambda self: None})(Application(), request)
    handler._transforms = []
    return handler


@pytest.mark.parametrize("kind", [WithTag, WithoutTag])
@pytest.mark.parametrize("respond", [*RESPONSES, lambda handler: handler.finish("body")])
async def test_a_response_is_the_one_that_tornado_would_send(respond, kind):
    for fields in REQUESTS:
        sent = []
        for base in (RequestHandler, SlimHandler):
            request = get("/", **fields)
            respond(a_handler(base, request, kind))
            sent.append(request.connection.sent)

        assert sent[1] == sent[0], fields
        assert sent[1][-1] == "finished"


async def test_a_response_that_must_have_no_body_is_refused_one():
    handler = a_handler(SlimHandler, get("/"))
    handler.set_status(204)

    with pytest.raises(RuntimeError, match="204"):
        handler.finish("body")


async def test_a_response_is_finished_once():
    handler = a_handler(SlimHandler, get("/"))
    handler.finish("body")

    with pytest.raises(RuntimeError, match="twice"):
        handler.finish()
