"""Where a request's way is shorter than Tornado's own: it leads to the same."""

from __future__ import annotations

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from handlers.userinfo import UserinfoHandler


class Connection:
    """As much of a connection as a handler is made with."""

    context = None

    def set_close_callback(self, callback):
        pass


def get(path):
    line = RequestStartLine("GET", path, "HTTP/1.1")
    headers = HTTPHeaders(Host="localhost")
    return HTTPServerRequest(start_line=line, headers=headers, connection=Connection())


def found(app, path, find):
    return find(app, get(path)).handler_class


def test_a_fixed_address_has_the_handler_that_tornado_would_find(server):
    assert len(server.app._fixed) > 20
    for path in server.app._fixed:
        ours = found(server.app, path, type(server.app).find_handler)
        assert ours is found(server.app, path, Application.find_handler), path


@pytest.mark.parametrize(
    "path", ["/oauth/v2/token/", "/oauth/v2/tokens", "/v2/users/somebody", "/x"]
)
def test_any_other_address_is_matched_as_tornado_does(server, path):
    ours = found(server.app, path, type(server.app).find_handler)

    assert ours is found(server.app, path, Application.find_handler)


def test_an_answer_begins_with_all_that_tornados_own_begins_with(server):
    request = get("/oidc/v1/userinfo")
    bare = RequestHandler(server.app, request)
    ours = UserinfoHandler(server.app, request)

    for handler in (bare, ours):
        handler.__dict__ = {name: vars(handler)[name] for name in ("application", "request")}
        handler.clear()

    assert set(vars(ours)) == set(vars(bare))
    assert (ours._status_code, ours._reason, ours._write_buffer) == (200, "OK", [])
