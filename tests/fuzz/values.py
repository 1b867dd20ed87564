"""Values that have broken parsers, stores and pages before; none of them is of any use here."""

from __future__ import annotations

from typing import Final

MARKUP: Final = b'"><svg/onload=alert(1)>'
INJECTED: Final = b"X-Injected"

NUMBERS: Final = [
    *[b"0", b"-1", b"+5", b"1.5", b"1e3", b"1e400", b"NaN", b"Infinity", b"1_0", b" 1 ", b"0x10"],
    *["１２".encode(), b"9" * 20, b"9" * 5000, b"9223372036854775808", b"-9223372036854775809"],
]
OCTETS: Final = [
    *[b"\0", b"a\0b", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x7f"],
    *[b"\r\nX-Injected: 1", b"\n", b"\t", b"\x1b[31m", b"\xef\xbb\xbf", b" ", b"+", b";", b"&"],
]
TEXTS: Final = [
    *["\u202e\u2066", "\u2028", "\ufeff", "ﷺ" * 60, "e\u0301", "İıſK", "\U0001f511", "ａｄｍｉｎ"],
]
SHAPES: Final = [
    *[b"true", b"null", b"[]", b"{}", b'""', b'{"$ne":null}', b'{"$gt":""}', b"$where", b"a[$ne]"],
    *[b"[" * 3000, b'{"a":' * 1500, b'{"id_token":{"a":1,"a":2}}', b'{"userinfo":[]}'],
    *[b'{"id_token":{"acr":{"essential":true,"values":[1,null,{}]}}}', b'{"id_token":"x"}'],
    *[b'{"userinfo":{"name":{"value":"\\ud800"}}}', b'{"id_token":{"sub":{"value":1e400}}}'],
    *[b'{"id_token":{"sub":{"values":["a","b"]},"auth_time":{"essential":1}}}', b"__proto__"],
]
INJECTIONS: Final = [
    *[MARKUP, b"${7*7}{{7*7}}<%= 7 %>", b"' OR 1=1 --", b"../../etc/passwd", b"%(x)s %n {0}"],
    *[b"javascript:alert(1)", b"http://[", b"https://evil.example/", b"//evil.example", b"\\\\e"],
]
LONG: Final = [b"a" * 300, b"a" * 4096, b"a" * 4097, b"%41" * 2000, b"a b " * 2000, b"a" * 70_000]

HOSTILE: Final = [
    b"",
    *NUMBERS,
    *OCTETS,
    *[each.encode() for each in TEXTS],
    *SHAPES,
    *INJECTIONS,
    *LONG,
]
GARBAGE: Final = [b"%", b"%4", b"%zz", b"%%", b"%00", b"%ff", b"%u0041", b"%c0%80", b"%2541", b"="]

# What the standards know, whether or not it is accepted here.
WORDS: Final = [
    *["code", "token", "id_token", "id_token token", "token id_token", "code id_token", "none"],
    *["code token", "code id_token token", "query", "fragment", "form_post", "query.jwt", "jwt"],
    *["openid", "openid profile email", "openid offline_access", "openid openid", "OPENID"],
    *["profile", "phone address", "offline_access", "login", "consent", "select_account"],
    *["create", "none login", "S256", "plain", "s256", "page", "popup", "touch", "wap", "de ar x"],
    *["authorization_code", "refresh_token", "client_credentials", "password", "implicit"],
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:saml2-bearer",
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:openid:params:grant-type:ciba",
    "urn:ietf:params:oauth:token-type:access_token",
    "urn:ietf:params:oauth:token-type:refresh_token",
    "urn:ietf:params:oauth:token-type:id_token",
    "urn:ietf:params:oauth:token-type:jwt",
    "urn:ietf:params:oauth:token-type:saml2",
    "urn:idp:params:oauth:token-type:user_id",
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "urn:ietf:params:oauth:request_uri:x",
    *["urn:idp:iam:org:project:roles", "urn:idp:iam:org:project:id:idp:aud", "urn:idp:iam:org:"],
    *["urn:idp:iam:org:domain:primary:localhost", "urn:idp:iam:user:metadata", "urn:idp:iam:x"],
    *["urn:idp:acr:password", "urn:idp:acr:passkey", "access_token", "allow", "deny", "cancel"],
]
NAMES: Final = [
    *["acr_values", "actor_token", "actor_token_type", "assertion", "audience", "claims"],
    *["client_assertion", "client_assertion_type", "client_id", "client_secret", "code"],
    *["code_challenge", "code_challenge_method", "code_verifier", "device_code", "display"],
    *["dpop_jkt", "grant_type", "id_token_hint", "login_hint", "logout_hint", "max_age", "nonce"],
    *["post_logout_redirect_uri", "prompt", "redirect_uri", "refresh_token", "registration"],
    *["request", "request_uri", "requested_token_type", "resource", "response_mode"],
    *["response_type", "scope", "state", "subject_token", "subject_token_type", "token"],
    *["token_type_hint", "ui_locales", "user_code", "access_token", "username", "password"],
    *["flow", "lang", "decision", "account", "loginName", "userCode", "newPassword"],
]
METHODS: Final = [
    *[b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT"],
    *[b"PROPFIND", b"post", b"XYZZY"],
]
CONTENT_TYPES: Final = [
    *[b"", b"application/json", b"text/plain", b"multipart/form-data; boundary=x", b"/", b";"],
    *[b"application/x-www-form-urlencoded; charset=utf-8", b"application/x-www-form-urlencoded;"],
    *[b"application/x-www-form-urlencoded; charset=utf-7", b"APPLICATION/X-WWW-FORM-URLENCODED"],
    *[b"application/x-www-form-urlencoded, text/plain", b"\xff\xfe", b"a" * 4000],
]
HEADERS: Final = [
    (b"Origin", [b"null", b"https://evil.example", b"https://client.example", b"*", b"http://["]),
    (b"Sec-Fetch-Site", [b"cross-site", b"same-site", b"same-origin", b"none", b"\xff", b""]),
    (b"Accept", [b"text/html", b"*/*;q=0", b"\xff", b"application/json"]),
    (b"Accept-Language", [b"de", b"ar;q=1e9", b"*", b"x" * 3000, b"en-XA", b"\xff", b",,,;q=a"]),
    (b"X-Forwarded-For", [b"1.2.3.4", b"unknown", b"::1, 9", b"\xff"]),
    (b"X-Forwarded-Host", [b"evil.example"]),
    (b"X-Forwarded-Proto", [b"https"]),
    (b"Forwarded", [b"host=evil.example;proto=https"]),
    (b"X-Request-Id", [b"a", b"a" * 5000, b"<svg>", b"\xff", b"a b"]),
    (b"If-None-Match", [b"*", b'"x"', b'W/"x", "y', b"\xff"]),
    (b"If-Modified-Since", [b"Thu, 01 Jan 1970 00:00:00 GMT", b"x", b"9" * 400]),
    (b"Range", [b"bytes=0-0", b"bytes=9-1", b"x"]),
    (b"Content-Encoding", [b"gzip", b"br", b"x"]),
    (b"Expect", [b"100-continue"]),
    (b"Upgrade", [b"websocket", b"h2c"]),
    (b"Connection", [b"Upgrade", b"keep-alive", b"close"]),
    (b"Access-Control-Request-Method", [b"POST", b"\xff"]),
    (b"X-HTTP-Method-Override", [b"DELETE"]),
]
HOSTS: Final = [
    *[
        b"",
        b"evil.example",
        b"127.0.0.1",
        b"[::1]",
        b"localhost",
        b"localhost:1",
        b"http://[",
        b":",
    ],
    *[b"localhost:99999", b"\xff", b"a" * 300, b"user@localhost", b"localhost.", b"LOCALHOST"],
]
COOKIES: Final = [
    *[
        b"",
        b"=",
        b";;;",
        b"idp_agent",
        b"idp_agent=",
        b"idp_agent=x",
        b"idp_agent=\xff",
        b"a" * 4000,
    ],
    *[
        b'idp_agent="\\000\\777"',
        b"idp_language=xx",
        b"idp_language=\xff",
        b"; ".join([b"a=b"] * 300),
    ],
]
