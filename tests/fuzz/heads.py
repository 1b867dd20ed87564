"""Ways to spoil the rest of a request: its method and address, its head, and its body's form."""

from __future__ import annotations

import base64
import zlib
from random import Random
from typing import Final

from tests.fuzz.mutators import Mutator
from tests.fuzz.request import FORM, Request
from tests.fuzz.values import CONTENT_TYPES, COOKIES, HEADERS, HOSTS, INJECTED, METHODS
from tests.fuzz.world import World


def other_method(rng: Random, world: World, request: Request) -> Request:
    return request.changed(method=rng.choice(METHODS))


def other_path(rng: Random, world: World, request: Request) -> Request:
    path = request.path
    spoilt = [
        *[path + b"/", path + b";x=1", path + b"/..", b"/." + path, b"/" + path, path.upper()],
        *[path + b"%00", path + b"%2e%2e", path.replace(b"/", b"%2f"), path + b"%ff", path[:-1]],
        *[b"http://" + world.host + path, b"http://evil.example" + path, b"*", path + b"#x"],
        *[path.replace(b"/", b"\\"), b"/x/.." + path, path + b"\xff", b"/" + b"a" * 9000],
    ]
    return request.changed(path=rng.choice(spoilt))


def other_header(rng: Random, world: World, request: Request) -> Request:
    name, values = rng.choice(HEADERS)
    value = rng.choice(values)
    if rng.random() < 0.1:
        return request.changed(headers=(*request.headers, (name, value), (name, b"again")))
    return request.with_header(name, value)


def other_host(rng: Random, world: World, request: Request) -> Request:
    return request.with_header(b"Host", rng.choice(HOSTS))


def other_cookie(rng: Random, world: World, request: Request) -> Request:
    stranger = world.strangers[0].headers[0][1]
    made_up = [*COOKIES, world.cookie[:-1], world.cookie + b"x", world.cookie, stranger]
    value = rng.choice([*made_up, world.cookie + b"; " + stranger])
    return request.with_header(b"Cookie", value)


def other_authorization(rng: Random, world: World, request: Request) -> Request:
    held = rng.choice(world.held).encode()
    client = rng.choice(list(world.clients.values())).party
    good = client.basic()["Authorization"].encode()
    pair = b"%s:%s" % (client.client_id.encode(), held)
    shapes = [
        *[good, good.lower(), good + b"=", good + b" x", good[:-3], good.replace(b" ", b"\t")],
        *[b"Basic", b"Basic ", b"Basic " + held, b"Basic " + base64.b64encode(pair)],
        *[b"Basic " + base64.b64encode(each) for each in (b"", b":", b"a", b"\xff:\xff", b"%:%")],
        *[b"Basic " + base64.b64encode(b"a:" + b"b" * 3000), b"Basic =", b"Basic \xff\xfe"],
        *[
            b"Basic " + base64.b64encode(b"a%00b:c"),
            b"Basic " + base64.urlsafe_b64encode(b"\xff:~?"),
        ],
        *[b"Bearer " + held, b"bearer " + held, b"Bearer", b"Bearer  " + held, b"Bearer a b"],
        *[b"Bearer " + held + b", Basic x", b"DPoP " + held, b"Digest username=x", b"", held],
        *[b"Bearer \xc3\xa4", b"Bearer " + b"a" * 10_000, b"Negotiate " + held],
    ]
    changed = request.with_header(b"Authorization", rng.choice(shapes))
    if rng.random() < 0.1:
        changed = changed.changed(headers=(*changed.headers, (b"Authorization", good)))
    return changed


def other_content_type(rng: Random, world: World, request: Request) -> Request:
    return request.with_header(b"Content-Type", rng.choice(CONTENT_TYPES))


def other_body(rng: Random, world: World, request: Request) -> Request:
    """The same, or nothing alike, written in another way."""
    form = b"&".join(name + b"=" + value for name, value in request.form or ((b"a", b"b"),))
    kind, body = rng.choice(
        [
            *[
                (FORM, form.replace(b"&", b";")),
                (FORM, b"\xef\xbb\xbf" + form),
                (FORM, b"&" + form),
            ],
            *[(FORM, form + b"&" * 80), (FORM, b"=&=&==&"), (FORM, b""), (FORM, form[:-3] + b"%")],
            *[(FORM, zlib.compress(form)), (FORM, rng.randbytes(200)), (FORM, b"a" * 66_000)],
            *[(FORM, form + b"\r\n"), (FORM, form.replace(b"=", b"%3d")), (FORM, b"[" * 9000)],
            (b"application/json", b'{"grant_type": "refresh_token"}'),
            (b"multipart/form-data; boundary=x", b"--x\r\n\r\n" * 200 + b"--x--"),
            (b"text/xml", b'<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>'),
        ]
    )
    whole = request.without_header(b"Transfer-Encoding")
    return whole.changed(body=body).with_header(b"Content-Type", kind)


def in_chunks(rng: Random, world: World, request: Request) -> Request:
    """With a body of unknown length; sometimes with trailers, or an end that never comes."""
    form = b"&".join(name + b"=" + value for name, value in request.form or ())
    cut = rng.randrange(len(form) + 1)
    chunks = b"".join(
        b"%x\r\n%s\r\n" % (len(part), part) for part in (form[:cut], form[cut:]) if part
    )
    is_broken = rng.random() < 0.5
    end = rng.choice([b"0\r\nX-Trailer: 1\r\n\r\n", b"zz\r\n", b"ffffffffff\r\n", b""])
    body = chunks + (end if is_broken else b"0\r\n\r\n")
    changed = request.changed(body=body, is_broken=is_broken or request.is_broken)
    return changed.with_header(b"Transfer-Encoding", b"chunked").with_header(b"Content-Type", FORM)


def break_head(rng: Random, world: World, request: Request) -> Request:
    """What need not be answered as HTTP at all, but must not do any harm."""
    broken: list[tuple[bytes, bytes]] = [
        *[(b"Content-Length", b"-1"), (b"Content-Length", b"99999"), (b"Content-Length", b"1, 2")],
        *[(b"Content-Length", b"0x10"), (b"Content-Length", b"9" * 30), (b"No Name", b"x")],
        *[(b"Transfer-Encoding", b"chunked, identity"), (b"Transfer-Encoding", b"\x0bchunked")],
        *[(b"X", b"1\r\n" + INJECTED + b": 1"), (b"X", b"\0"), (b"X", b"a" * 70_000), (b"", b"")],
        *[(b" folded", b"x"), (b"Host", b"a\r\nHost: b"), (b"Expect", b"\xff" * 100)],
    ]
    spoilt = request.changed(headers=(*request.headers, rng.choice(broken)), is_broken=True)
    if rng.random() < 0.3:
        spoilt = spoilt.changed(method=rng.choice([b"", b"G T", b"\xff", b"GET\t", b"A" * 9000]))
    return spoilt


HEADS: Final[tuple[Mutator, ...]] = (
    *(other_method, other_path, other_header, other_header, other_host, other_cookie),
    *(other_authorization, other_authorization, other_content_type, other_body, in_chunks),
    break_head,
)
