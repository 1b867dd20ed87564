"""Where a request's way is shorter than Tornado's own: it leads to the same."""

from __future__ import annotations

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from handlers import api
from handlers.app import LOCAL_ROUTES, ROUTES
from handlers.pages.not_found import MissingHandler
from handlers.protocol.userinfo import UserinfoHandler


class Peer:
    """Where a connection comes from."""

    remote_ip = "127.0.0.1"


class Connection:
    """As much of a connection as a handler is made with."""

    context = Peer()

    def set_close_callback(self, callback):
        pass


def get(path):
    line = RequestStartLine("GET", path, "HTTP/1.1")
    headers = HTTPHeaders(Host="localhost")
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


def test_an_answer_begins_with_all_that_tornados_own_begins_with(server):
    request = get("/oidc/v1/userinfo")
    bare = RequestHandler(server.app, request)
    ours = UserinfoHandler(server.app, request)

    for handler, kept in ((bare, ()), (ours, ("app", "service"))):
        names = ("application", "request", *kept)
        handler.__dict__ = {name: vars(handler)[name] for name in names}
        handler.clear()

    assert set(vars(ours)) == set(vars(bare)) | {"app", "service"}
    assert (ours._status_code, ours._reason, ours._write_buffer) == (200, "OK", [])
