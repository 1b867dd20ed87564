"""What a call may say of object storage: a bucket, a path, an account, and no address."""

from __future__ import annotations

import base64
import re

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from idp.config import rules as config_rules
from idp.config.settings import Config
from idp.foundation.errors import InvalidArgument
from idp.schema import reading
from idp.transfer.bucket.location import AzureLocation, GcsLocation, S3Location
from tests.support.servers.bucket import ACCOUNT, EMAIL, PEM, packed

WHOLE = {"bucket": "acme-exports", "path": "a/b.json", "serviceaccountJson": packed(ACCOUNT)}


def refusal(**changes):
    with pytest.raises(InvalidArgument) as refused:
        reading.read(GcsLocation, WHOLE | changes)
    (problem,) = refused.value.problems
    return problem


def pem(key, kind=serialization.PrivateFormat.PKCS8):
    return key.private_bytes(
        serialization.Encoding.PEM, kind, serialization.NoEncryption()
    ).decode()


def test_a_place_is_taken_in_both_styles_and_shows_no_key():
    old_style = WHOLE | {"serviceaccount_json": WHOLE["serviceaccountJson"]}
    del old_style["serviceaccountJson"]

    for document in (WHOLE, old_style):
        place = reading.read(GcsLocation, document)

        assert (place.bucket, place.path) == ("acme-exports", "a/b.json")
        assert place.serviceaccount_json.email == EMAIL
        assert EMAIL not in repr(place)
        assert "KEY" not in repr(place)


@pytest.mark.parametrize("bucket", ["acme", "a.b-c_d.example", "123", "a" * 63])
def test_buckets_have_such_names(bucket):
    assert reading.read(GcsLocation, WHOLE | {"bucket": bucket}).bucket == bucket


@pytest.mark.parametrize(
    "bucket",
    ["", "a", "a/b", "..", "a..b", "-a-", "Acme", "a@b", "acme\r\nHost: x", "a b", "a%2fb", "ä-b"]
    + [
        "127.0.0.1",
        "169.254.169.254",
        "a" * 64,
        "a.b/..",
        "acme?x",
        "acme#x",
        "acme\x00",
        7,
        None,
    ],
)
def test_what_is_no_bucket_is_refused(bucket):
    assert refusal(bucket=bucket).field == "bucket"


@pytest.mark.parametrize("path", ["a", "a/b.json", "2026 export.json", "ä", "a@b", "..a", "%2e/a"])
def test_paths_are_names_with_slashes_between(path):
    assert reading.read(GcsLocation, WHOLE | {"path": path}).path == path


@pytest.mark.parametrize(
    "path",
    ["", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\\b", "a\r\nb", "a\nb"]
    + ["a\x00", "a" * 1025, "ä" * 513, 7, None, ["a"]],
)
def test_what_is_no_path_is_refused(path):
    assert refusal(path=path).field == "path"


ACCOUNTS = {
    "another type": {"type": "authorized_user"},
    "external": {"type": "external_account"},
    "token_uri within": {"token_uri": "http://169.254.169.254/token"},
    "token_uri elsewhere": {"token_uri": "https://oauth2.googleapis.com.evil.example/token"},
    "token_uri with a user": {"token_uri": "https://oauth2.googleapis.com@evil.example/token"},
    "token_uri with more": {"token_uri": "https://oauth2.googleapis.com/token\n"},
    "no token_uri": {"token_uri": None},
    "another universe": {"universe_domain": "evil.example"},
    "no universe": {"universe_domain": ""},
    "another mail": {"client_email": "a@evil.example"},
    "two mails": {"client_email": f"{EMAIL}\r\nx"},
    "no mail": {"client_email": None},
    "a list": {"client_email": [EMAIL]},
    "key id": {"private_key_id": "a/../b"},
    "no key": {"private_key": ""},
    "half a key": {"private_key": PEM[:400]},
    "a spoilt key": {"private_key": PEM.replace("MII", "MIX", 1)},
    "two keys": {"private_key": PEM + PEM},
    "an elliptic key": {"private_key": pem(ec.generate_private_key(ec.SECP256R1()))},
    "a short key": {
        "private_key": pem(rsa.generate_private_key(public_exponent=65537, key_size=1024))
    },
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_an_account_that_is_not_googles_is_refused_and_not_repeated(name):
    problem = refusal(serviceaccountJson=packed(ACCOUNT | ACCOUNTS[name]))

    assert (problem.error_code, problem.field) == ("object_storage.account", "serviceaccountJson")
    assert "evil" not in problem.message
    assert "169" not in problem.message


@pytest.mark.parametrize(
    ("text", "error_code"),
    [
        ("{}", "field.base64"),
        ("e30", "field.base64"),
        ("e30=", "object_storage.account"),
        ("W10=", "object_storage.account"),
        ("eA==", "object_storage.account"),
        (base64.b64encode(b'{"type":1,"type":2}').decode(), "object_storage.account"),
        (base64.b64encode(b"[" * 10_000).decode(), "object_storage.account"),
        ("x" * 40_000, "field.too_long"),
        ("", "field.empty"),
        ({"type": "service_account"}, "field.wrong_type"),
    ],
)
def test_what_is_no_document_in_base64_is_refused(text, error_code):
    assert refusal(serviceaccountJson=text).error_code == error_code


def test_a_key_of_the_older_form_is_read():
    key = pem(
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        serialization.PrivateFormat.TraditionalOpenSSL,
    )

    place = reading.read(
        GcsLocation, WHOLE | {"serviceaccountJson": packed(ACCOUNT | {"private_key": key})}
    )

    assert place.serviceaccount_json.private_key == key


LOCAL, PUBLIC = "http://localhost:8080", "https://id.example.com"


@pytest.mark.parametrize(
    ("endpoint", "issuer", "is_fine"),
    [
        ("https://storage.googleapis.com", PUBLIC, True),
        ("https://storage-acme.p.googleapis.com", PUBLIC, True),
        ("https://storage.example.com:8443", PUBLIC, True),
        ("http://127.0.0.1:9023", LOCAL, True),
        ("http://localhost:9023", LOCAL, True),
        ("http://127.0.0.1:9023", PUBLIC, False),
        ("http://storage.example.com", PUBLIC, False),
        ("http://storage.example.com", LOCAL, False),
        ("https://storage.googleapis.com/", PUBLIC, False),
        ("https://storage.googleapis.com/x", PUBLIC, False),
        ("https://a:b@storage.googleapis.com", PUBLIC, False),
        ("https://", PUBLIC, False),
        ("https://x:y", PUBLIC, False),
        ("https://[x", PUBLIC, False),
        ("ftp://storage.googleapis.com", PUBLIC, False),
        ("storage.googleapis.com", PUBLIC, False),
        ("", LOCAL, False),
    ],
)
def test_the_endpoint_is_the_operators_and_safe(endpoint, issuer, is_fine):
    broken = config_rules.check(Config(gcs_endpoint=endpoint, issuer=issuer))

    assert (("gcs_endpoint",) in [each.names for each in broken]) != is_fine


@pytest.mark.parametrize(
    ("servers", "is_fine"),
    [
        ((), True),
        (("https://s3.example.com", "http://10.0.0.1:9000", "http://[::1]:9000"), True),
        (("https://s3.example.com/",), False),
        (("https://a:b@s3.example.com",), False),
        (("s3.example.com",), False),
        (("https://S3.example.com",), False),
        (("https://",), False),
        (("file:///etc",), False),
    ],
)
def test_further_servers_are_hosts_with_a_port_at_most(servers, is_fine):
    broken = config_rules.check(Config(object_storage_servers=servers, issuer=LOCAL))

    assert (("object_storage_servers",) in [each.names for each in broken]) != is_fine


S3 = {
    "bucket": "acme-exports",
    "path": "a/b.json",
    "accessKeyId": "AKIDEXAMPLE",
    "secretAccessKey": "wJalrXUtnFEMI/K7MDENG",
}
AZURE = {"account": "acme", "container": "exports", "path": "a/b.json", "accessKey": "c2VjcmV0"}


@pytest.mark.parametrize(
    ("kind", "document", "server", "uri"),
    [
        (S3Location, S3, "https://s3.us-east-1.amazonaws.com", "s3://acme-exports/a/b.json"),
        (
            S3Location,
            S3 | {"region": "cn-north-1"},
            "https://s3.cn-north-1.amazonaws.com.cn",
            "s3://acme-exports/a/b.json",
        ),
        (
            S3Location,
            S3 | {"endpoint": "10.0.0.1:9000", "ssl": False},
            "http://10.0.0.1:9000",
            "s3://acme-exports/a/b.json",
        ),
        (
            AzureLocation,
            AZURE,
            "https://acme.blob.core.windows.net",
            "azure://acme/exports/a/b.json",
        ),
    ],
)
def test_a_location_names_its_server_and_shows_no_secret(kind, document, server, uri):
    location = reading.read(kind, document)

    assert (location.server(Config()), location.uri) == (server, uri)
    assert "wJalrX" not in repr(location)
    assert "c2Vj" not in repr(location)


@pytest.mark.parametrize(
    ("kind", "document", "field"),
    [
        (S3Location, S3 | {"endpoint": "https://s3.example.com"}, "endpoint"),
        (S3Location, S3 | {"endpoint": "a@s3.example.com"}, "endpoint"),
        (S3Location, S3 | {"endpoint": "s3.example.com/x"}, "endpoint"),
        (S3Location, S3 | {"endpoint": "s3.example.com?x"}, "endpoint"),
        (S3Location, S3 | {"endpoint": "s3.example.com#"}, "endpoint"),
        (S3Location, S3 | {"region": "x/y"}, "region"),
        (S3Location, S3 | {"accessKeyId": "a b"}, "accessKeyId"),
        (S3Location, S3 | {"secretAccessKey": "a\r\nb"}, "secretAccessKey"),
        (S3Location, S3 | {"secretAccessKey": 7}, "secretAccessKey"),
        (S3Location, S3 | {"sessionToken": "x"}, "sessionToken"),
        (S3Location, S3 | {"webIdentityTokenFile": "/etc/passwd"}, "webIdentityTokenFile"),
        (AzureLocation, AZURE | {"account": "acme.evil"}, "account"),
        (AzureLocation, AZURE | {"container": "a/b"}, "container"),
        (AzureLocation, AZURE | {"accessKey": "%"}, "accessKey"),
        (AzureLocation, AZURE | {"sasToken": "sig=x"}, "sasToken"),
        (AzureLocation, AZURE | {"federatedTokenFile": "/x"}, "federatedTokenFile"),
        (AzureLocation, {k: v for k, v in AZURE.items() if k != "accessKey"}, "accessKey"),
    ],
)
def test_what_is_no_location_is_refused_and_not_repeated(kind, document, field):
    with pytest.raises(InvalidArgument) as refused:
        reading.read(kind, document)

    (problem,) = refused.value.problems
    assert problem.field == field
    assert not re.search("evil|bucket", problem.message)
