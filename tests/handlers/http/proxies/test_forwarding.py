"""The client's address in the headers that proxies write, in the forms in which they write it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from handlers.http import forwarding, hosts
from idp.config.settings import Config
from idp.start import proxy_warnings
from tests.support.attacks import guessing

PROXY, CLIENT, CLIENT6 = "10.0.0.2", "192.0.2.60", "2001:db8::17"
TRUSTED = Config(trusted_proxies=("10.0.0.0/8", "fd00::/8"))

# By who writes it.
FORWARDED_FOR = {
    "nginx, HAProxy, AWS ALB": (CLIENT, CLIENT),
    "nginx, IPv6": (CLIENT6, CLIENT6),
    "Azure Application Gateway, IIS ARR": (f"{CLIENT}:56789", CLIENT),
    "AWS ALB with the client's port, IPv6": (f"[{CLIENT6}]:8080", CLIENT6),
    "brackets without a port": (f"[{CLIENT6}]", CLIENT6),
    "IIS ARR, IPv6 in full with a port": ("2001:db8:1:2:3:4:5:6:4711", "2001:db8:1:2:3:4:5:6"),
    "Caddy at a local network": ("fe80::1c85:9b25:a40f:e67a%eth0", "fe80::1c85:9b25:a40f:e67a"),
    "Traefik on Windows": ("[fe80::d8%vEthernet (Switch)]:64692", "fe80::d8"),
    "an encoded zone": ("[fe80::d8%25eth0]:1", "fe80::d8"),
    "Envoy at a dual-stack socket": (f"::ffff:{CLIENT}", CLIENT),
    "quotes": (f'"{CLIENT}"', CLIENT),
    "quotes and brackets": (f'"[{CLIENT6}]:4711"', CLIENT6),
    "several members": (f"203.0.113.9, {CLIENT}", CLIENT),
    "a chain of trusted proxies": (f"203.0.113.9,{CLIENT},10.1.1.1:80,[fd00::2]:9", CLIENT),
    "mapped trusted proxies": (f"{CLIENT}, ::ffff:10.1.1.1", CLIENT),
    "blanks, tabs and empty members": (f",\t {CLIENT} \t, ,", CLIENT),
    "Cloudflare": (f"{CLIENT},10.9.9.9", CLIENT),
    "Squid in front of nginx": (f"unknown, {CLIENT}", CLIENT),
    "capital letters": ("2001:DB8::17", CLIENT6),
}
FORWARDED = {
    "RFC 7239, IPv4": (f"for={CLIENT};proto=http;by=203.0.113.43", CLIENT),
    "RFC 7239, IPv6 and port": ('For="[2001:db8::17]:4711"', CLIENT6),
    "RFC 7239, a port that is hidden": (f'for="{CLIENT}:_x9"', CLIENT),
    "RFC 7239, two elements": (f"for=203.0.113.9, FOR={CLIENT}", CLIENT),
    "RFC 7239, hidden behind a proxy": (f"for=_mdn, for={CLIENT}", CLIENT),
    "MDN, blanks after semicolons": (f"for={CLIENT}; proto=http; by=203.0.113.43", CLIENT),
    "HAProxy": (f"proto=https;for={CLIENT};host=login.example.com", CLIENT),
    "OpenShift": (f"for={CLIENT};host=login.example.com:443;proto=https;proto-version=h2", CLIENT),
    "AWS API Gateway": (f"by=3.235.38.58;for={CLIENT6};host=a.example;proto=https", CLIENT6),
    "uWebSockets": (f'by="[::1]:4430";for="[{CLIENT6}]:57096";proto=https;host=a:4430', CLIENT6),
    "a quoted comma": (f'for={CLIENT};secret="a,b;for=1.1.1.1"', CLIENT),
    "an escaped quote": (f'for={CLIENT};secret="a\\"b"', CLIENT),
    "a chain of trusted proxies": (
        f'for={CLIENT}, for=10.1.1.1;by=x, for="[fd00::2]"',
        CLIENT,
    ),
    "empty elements and pairs": (f", ;for={CLIENT};;, ,", CLIENT),
}
# What a client sends, and then what its proxy appends.
FORGED = {
    "an open quote": 'for="x',
    "an open quote with an address": 'for=6.6.6.6;x="',
    "an element": "for=6.6.6.6",
    "no element": "===",
    "a backslash": 'for="\\',
    "a lone comma": ",",
}
UNKNOWN = ("unknown", "_hidden", "nonsense", "1.2.3", "[::1", "1.2.3.4:x", "1.2.3.4:123456")


def request_with(headers, peer=PROXY):
    sent = HTTPHeaders({"Host": "a"})
    for name, value in headers:
        sent.add(name, value)
    start = RequestStartLine("GET", "/", "HTTP/1.1")
    request = HTTPServerRequest(start_line=start, headers=sent)
    request.remote_ip = peer
    return request


def client_of(*headers, peer=PROXY):
    return hosts.client(TRUSTED, request_with(headers, peer))


@pytest.mark.every_row
@pytest.mark.parametrize(("text", "address"), FORWARDED_FOR.values(), ids=FORWARDED_FOR)
def test_x_forwarded_for_is_read_as_proxies_write_it(text, address):
    assert client_of(("X-Forwarded-For", text)) == hosts.ForwardedClient(address)


@pytest.mark.every_row
@pytest.mark.parametrize(("text", "address"), FORWARDED.values(), ids=FORWARDED)
def test_forwarded_is_read_as_proxies_write_it(text, address):
    assert client_of(("Forwarded", text)) == hosts.ForwardedClient(address)


@pytest.mark.parametrize("name", ["X-Forwarded-For", "x-forwarded-for", "FORWARDED"])
def test_several_lines_are_one_list(name):
    prefix = "for=" if name == "FORWARDED" else ""
    lines = [(name, prefix + "203.0.113.9"), (name, prefix + CLIENT), (name, prefix + "10.1.1.1")]

    assert client_of(*lines).address == CLIENT


@pytest.mark.every_row
@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("written", [f"for={CLIENT}", f'for="{CLIENT}:1";proto=https'])
def test_what_a_client_sends_does_not_change_what_its_proxy_appends(forged, written):
    assert client_of(("Forwarded", f"{forged}, {written}")).address == CLIENT
    assert client_of(("X-Forwarded-For", f"{forged}, {CLIENT}")).address == CLIENT


def test_x_forwarded_for_goes_before_forwarded():
    both = [("Forwarded", "for=6.6.6.6"), ("X-Forwarded-For", CLIENT)]

    assert client_of(*both).address == CLIENT


@pytest.mark.every_row
@pytest.mark.parametrize("empty", ["", ",", ",\t,", ", ,"])
def test_a_header_without_members_counts_as_absent(empty):
    forwarded, real_ip = ("Forwarded", f"for={CLIENT}"), ("X-Real-IP", CLIENT)

    assert client_of(("X-Forwarded-For", empty), forwarded).address == CLIENT
    assert client_of(("X-Forwarded-For", empty), ("Forwarded", empty), real_ip).address == CLIENT
    assert not forwarding.is_forwarded(HTTPHeaders({"X-Forwarded-For": empty}))
    scheme = {"X-Forwarded-Proto": empty, "Forwarded": "proto=https"}
    assert forwarding.scheme(HTTPHeaders(scheme)) == "https"


REAL_IP = {
    "nginx": (CLIENT, CLIENT),
    "IPv6": (CLIENT6, CLIENT6),
    "a port": (f"{CLIENT}:4711", CLIENT),
    "a mapped address": (f"::ffff:{CLIENT}", CLIENT),
}


@pytest.mark.every_row
@pytest.mark.parametrize(("text", "address"), REAL_IP.values(), ids=REAL_IP)
def test_x_real_ip_is_read_where_nothing_else_names_the_client(text, address):
    assert client_of(("X-Real-IP", text)) == hosts.ForwardedClient(address)
    assert client_of(("X-Real-IP", "6.6.6.6"), ("X-Forwarded-For", CLIENT)).address == CLIENT
    assert client_of(("X-Real-IP", "6.6.6.6"), ("Forwarded", f"for={CLIENT}")).address == CLIENT


@pytest.mark.parametrize("text", ["unknown", f"{CLIENT}, 203.0.113.9"])
def test_an_x_real_ip_that_is_not_one_address_names_no_client(text):
    assert client_of(("X-Real-IP", text)) == hosts.ForwardedClient(PROXY, text)


def test_a_peer_that_sends_x_real_ip_and_is_not_trusted_seems_to_be_a_proxy():
    request = request_with([("X-Real-IP", CLIENT)])

    assert hosts.is_untrusted_proxy(Config(), request)
    assert not hosts.is_untrusted_proxy(TRUSTED, request)


@pytest.mark.parametrize("peer", ["192.0.2.1", "::ffff:192.0.2.1", "", "nonsense"])
@pytest.mark.parametrize(
    "header", [("X-Forwarded-For", CLIENT), ("Forwarded", f"for={CLIENT}"), ("X-Real-IP", CLIENT)]
)
def test_a_peer_that_is_not_trusted_is_the_client(peer, header):
    assert client_of(header, peer=peer) == hosts.ForwardedClient(peer)


@pytest.mark.parametrize("peer", ["10.0.0.2", "::ffff:10.0.0.2", "fd00::2%eth0"])
def test_a_trusted_peer_is_known_in_each_form_of_a_socket(peer):
    assert client_of(("X-Forwarded-For", CLIENT), peer=peer).address == CLIENT


@pytest.mark.every_row
@pytest.mark.parametrize("hop", UNKNOWN)
def test_a_client_that_a_proxy_does_not_name_shares_its_address(hop):
    header = ("X-Forwarded-For", f"203.0.113.9, {hop}")
    found = client_of(header)

    assert found == hosts.ForwardedClient(PROXY, hop)
    assert hosts.is_shared(TRUSTED, request_with([header]))
    assert not hosts.is_shared(TRUSTED, request_with([("X-Forwarded-For", CLIENT)]))


@pytest.mark.parametrize("text", ["proto=https", "for=1.1.1.1;for=2.2.2.2", "for", "=", "for=_a"])
def test_an_element_without_an_address_names_no_client(text):
    found = client_of(("Forwarded", f"for={CLIENT}, {text}"))

    assert (found.address, found.unknown_hop is None) == (PROXY, False)


def test_an_unknown_hop_behind_a_trusted_one_is_not_the_peer():
    found = client_of(("X-Forwarded-For", "unknown, 10.1.1.1"))

    assert found == hosts.ForwardedClient("10.1.1.1", "unknown")


@pytest.mark.parametrize(
    ("header", "scheme"),
    [
        (("X-Forwarded-Proto", "http, HTTPS "), "https"),
        (("X-Forwarded-Proto", '"https"'), "https"),
        (("Forwarded", "for=1.1.1.1;proto=http, for=2.2.2.2;Proto=HTTPS"), "https"),
        (("Forwarded", 'proto="https"'), "https"),
        (("Forwarded", "for=1.1.1.1"), ""),
        (("Host", "a"), ""),
    ],
)
def test_the_scheme_is_that_of_the_nearest_proxy(header, scheme):
    assert forwarding.scheme(HTTPHeaders(dict([header]))) == scheme


def test_long_headers_are_read_within_few_steps():
    blanks = ("Forwarded", "for=" + " " * 20_000 + "," * 20_000 + '"' * 20_000)

    assert client_of(blanks).address == PROXY
    assert client_of(("X-Forwarded-For", "x" * 60_000)).address == PROXY


@pytest.mark.parametrize("end", ["\\", '"', ", for=192.0.2.1"])
def test_what_is_nearly_an_element_is_not_tried_in_all_ways(end):
    """With 190 pairs there would be 3 to the power of 190 ways."""
    for pair in ("a=  ;", "a  =;", " ;", 'a=" ";', "a=b  ;"):
        headers = HTTPHeaders({"Forwarded": pair * 190 + end})

        assert forwarding.scheme(headers) == ""
        assert list(forwarding.hops_from_nearest(headers))[-1] == "unknown"


async def test_a_stranger_at_a_wrong_host_has_no_header_of_proxies_read(visitor, monkeypatch):
    monkeypatch.setattr(forwarding, "scheme", lambda _: pytest.fail("it was read"))

    page = await visitor.get(
        "/ui/login", headers={"Host": "evil.example", "Accept": "text/html", "Forwarded": "a=;b"}
    )

    assert page.status == 421


class TestBehindAProxyThatNamesNoClient:
    @pytest.fixture
    def settings(self):
        return {"trusted_proxies": ("127.0.0.1",)}

    async def test_limits_are_those_of_many_clients_and_it_is_logged_once(
        self, server, new_visitor, demo, monkeypatch
    ):
        warned = []
        log = SimpleNamespace(warning=lambda text, **values: warned.append((text, values)))
        monkeypatch.setattr(proxy_warnings, "_log", log)
        await guessing.fail_from(server, "127.0.0.1")
        at = guessing.begun_by(new_visitor, demo)
        answers = [(await (await at(f"name{n}", "unknown"))("wrong")).status for n in range(3)]

        assert answers == [400] * 3
        ((text, values),) = warned
        assert "does not state a client's address" in text
        assert values == {"proxy": "127.0.0.1", "stated": "'unknown'"}
