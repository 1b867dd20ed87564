"""Rules that settings have to meet besides their types and ranges, most of them between several
settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from idp.config.urls import (
    address_and_port,
    has_user_without_password,
    is_loopback,
    without_password,
)
from idp.foundation.localization import local_time

if TYPE_CHECKING:
    from idp.config.settings import Config

_HOST_NAME: Final = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"
)
_VENDOR: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,29}[a-z0-9]")  # a URN namespace, RFC 8141
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_MAILBOX: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@([^@]+)")
_SENDER_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,100}")
_REQUIRE_SMTP_HOST: Final = (
    "smtp_user",
    "smtp_password_file",
    "smtp_ca_file",
    "smtp_from",
    "smtp_from_name",
    "smtp_reply_to",
)
_MAX_PASSWORD_WORDS: Final = 200
_MIN_AUDIT_DAYS: Final = 7
_MONGODB_SCHEMES: Final = ("mongodb://", "mongodb+srv://")
_STORES: Final = ("sqlite:///", "memory://", *_MONGODB_SCHEMES)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class BrokenRule(NamedTuple):
    """A rule that the settings break: the names of the settings that it concerns, and a sentence
    for the operator.

    `fix`, if given, is appended to the sentence and ends in a complete command.
    """

    names: tuple[str, ...]
    text: str
    fix: str = ""


def check(config: Config) -> Iterator[BrokenRule]:
    """Yields every rule that the settings break."""
    yield from _issuer(config)
    yield from _listening(config)
    yield from _store_password(config)
    yield from _metrics(config)
    yield from _reachable(config)
    yield from _names(config)
    yield from _secrets(config)
    yield from _lifetimes(config)
    yield from _mail(config)
    yield from _mail_links(config)
    yield from _text_messages(config)
    yield from _object_storage(config)
    yield from _traces(config)
    yield from _passwords(config)
    yield from _audit(config)


def _audit(config: Config) -> Iterator[BrokenRule]:
    for name in ("audit_change_days", "audit_access_days", "audit_failure_days"):
        if 0 < getattr(config, name) < _MIN_AUDIT_DAYS:
            text = f"{name} must be 0, for ever, or at least {_MIN_AUDIT_DAYS} days"
            yield BrokenRule((name,), text)


def _issuer(config: Config) -> Iterator[BrokenRule]:
    try:
        parts = urlsplit(config.issuer)
        problem = _malformed(config.issuer, parts)
    except ValueError:
        problem = "is not a URL"
    if problem:
        yield BrokenRule(("issuer",), f"issuer {problem}: {without_password(config.issuer)!r}")
    elif parts.scheme == "http" and not (config.is_loopback or config.insecure_http):
        yield BrokenRule(
            ("issuer", "insecure_http"),
            f"issuer must be https: {config.issuer!r} is neither that nor on this machine; "
            "put a TLS proxy in front, give tls_cert and tls_key, or, for a trial in a network "
            "that you trust, set insecure_http",
        )
    elif config.test and not config.is_loopback:
        yield BrokenRule(
            ("test", "issuer"),
            f"test is for issuers on this machine: with {config.issuer!r}, anyone could set the "
            "clock and empty the store; leave out test (--test)",
        )


def _malformed(issuer: str, parts: SplitResult) -> str | None:
    """Returns the reason why the URL can't be an issuer; None if it can. Raises ValueError if it
    is not a URL."""
    is_bracketed = parts.netloc.startswith("[")
    # The function urlsplit silently drops line breaks and tabs, as browsers do, but clients
    # compare the issuer exactly.
    is_plain = parts.geturl() == issuer
    checks = {
        "must begin with https:// or http://": not issuer.startswith(("https://", "http://")),
        "must not have a query or a fragment": "?" in issuer or "#" in issuer,
        "must not have a path: the service needs a host of its own": parts.path.strip("/") != "",
        "must not hold a user name": "@" in parts.netloc,
        "must not end in a slash": issuer.endswith("/"),
        "must be in lower case, as browsers send it": parts.netloc != parts.netloc.lower(),
        "must name a host, an international one in its ASCII form (xn--…)": not _is_host(
            parts.hostname or "", is_bracketed
        ),
        "must leave out the usual port, as browsers do": parts.port
        == _DEFAULT_PORTS.get(parts.scheme, 0),
        "must be a plain URL of scheme, host and port": not is_plain or parts.netloc.endswith(":"),
    }
    return next((problem for problem, is_broken in checks.items() if is_broken), None)


def _is_host(host: str, is_bracketed: bool) -> bool:
    if not is_bracketed and not re.fullmatch(r"[0-9.]+", host):
        return bool(_HOST_NAME.fullmatch(host))
    try:
        return str(ip_address(host)) == host  # only the spelling that browsers send
    except ValueError:
        return False


def _listening(config: Config) -> Iterator[BrokenRule]:
    if not config.host.strip():
        yield BrokenRule(("host",), "host must not be empty")
    if (config.tls_cert is None) != (config.tls_key is None):
        stated, omitted = ("tls_cert", "tls_key") if config.tls_cert else ("tls_key", "tls_cert")
        message = (
            f"tls_cert and tls_key must be given together: give {omitted}, or leave out {stated}"
        )
        yield BrokenRule(("tls_cert", "tls_key"), message)
    if not config.is_temporary and not config.store.startswith(_STORES):
        yield BrokenRule(("store",), f"store must begin with one of {', '.join(_STORES)}")
    if config.store.startswith("memory://") and config.processes > 1:
        yield BrokenRule(
            ("store", "processes"),
            "a store in memory can't be shared by processes: leave out processes, or name another"
            " store",
        )
    for name in ("trusted_proxies", "outgoing_networks"):
        for network in getattr(config, name):
            try:
                ip_network(network)
            except ValueError as error:
                yield BrokenRule((name,), f"{name}: {error}")


def _store_password(config: Config) -> Iterator[BrokenRule]:
    is_server = config.store.startswith(_MONGODB_SCHEMES)
    if config.store_password_file and is_server and not has_user_without_password(config.store):
        yield BrokenRule(
            ("store", "store_password_file"),
            "with store_password_file, store must name a user and no password:"
            " mongodb://USER@HOST/DATABASE",
        )


def _metrics(config: Config) -> Iterator[BrokenRule]:
    if config.metrics_listen:
        try:
            address_and_port(config.metrics_listen)
        except ValueError as error:
            yield BrokenRule(("metrics_listen",), f"metrics_listen: {error}")
    elif config.metrics_token_file is not None:
        yield BrokenRule(
            ("metrics_token_file", "metrics_listen"),
            "metrics_token_file has an effect only with metrics_listen",
        )


def _reachable(config: Config) -> Iterator[BrokenRule]:
    """Checks that a trial is reachable from this machine only: it displays held mail, and with
    `test` the store can be reset."""
    is_local = is_loopback(config.host.lower()) or not config.host.strip()
    if config.test and not is_local:
        yield BrokenRule(
            ("test", "host"),
            f"test is for this machine: at host {config.host!r}, anyone could set the clock and"
            " empty the store; leave out host (--host)",
        )
    elif config.is_loopback and not is_local and not config.allow_trial_network:
        yield BrokenRule(
            ("host", "issuer", "allow_trial_network"),
            f"host {config.host!r} lets other machines in, and browsers there can't use the issuer"
            f" {config.issuer!r}; give the address that they use (--issuer https://…) or, for a"
            " trial in a container, set allow_trial_network = true"
            " (IDP_ALLOW_TRIAL_NETWORK=true)",
        )
    if config.profile == "trial" and not config.is_loopback:
        yield BrokenRule(
            ("profile", "issuer"),
            f"profile trial is for issuers on this machine, and {config.issuer!r} is not: leave"
            " out profile",
        )


def _names(config: Config) -> Iterator[BrokenRule]:
    if not config.data.strip():
        yield BrokenRule(("data",), "data must name a directory")
    if not _VENDOR.fullmatch(config.vendor):
        yield BrokenRule(("vendor",), "vendor must be 2 to 31 of a-z, 0-9 and -, none at its ends")
    if not _LANGUAGE.fullmatch(config.default_language):
        yield BrokenRule(
            ("default_language",), "default_language must be a language tag such as de"
        )
    if config.default_time_zone not in local_time.zones():
        yield BrokenRule(
            ("default_time_zone",), "default_time_zone must be a time zone such as Europe/Zurich"
        )
    if not re.fullmatch(r"\S{1,200}", config.admin_login_name):
        yield BrokenRule(
            ("admin_login_name",), "admin_login_name must be 1 to 200 characters without spaces"
        )


def _secrets(config: Config) -> Iterator[BrokenRule]:
    if config.master_key and config.master_key_file:
        yield BrokenRule(
            ("master_key", "master_key_file"), "give master_key or master_key_file, not both"
        )


def _lifetimes(config: Config) -> Iterator[BrokenRule]:
    if config.session_idle_seconds > config.session_seconds:
        yield BrokenRule(
            ("session_idle_seconds", "session_seconds"),
            "session_idle_seconds must not be longer than session_seconds",
        )
    if config.refresh_token_idle_seconds > config.refresh_token_seconds:
        yield BrokenRule(
            ("refresh_token_idle_seconds", "refresh_token_seconds"),
            "refresh_token_idle_seconds must not be longer than refresh_token_seconds",
        )


def _mail(config: Config) -> Iterator[BrokenRule]:
    if not config.smtp_host:
        for name in _REQUIRE_SMTP_HOST:
            if getattr(config, name):
                yield BrokenRule((name, "smtp_host"), f"{name} is of no use without smtp_host")
        return
    host = config.smtp_host
    if not (_is_host(host.lower(), is_bracketed=False) or ":" in host and _is_host(host, True)):
        yield BrokenRule(
            ("smtp_host",), "smtp_host must be the mail server's name or address alone"
        )
    if bool(config.smtp_user) != bool(config.smtp_password_file):
        names = ("smtp_user", "smtp_password_file")
        yield BrokenRule(names, "smtp_user and smtp_password_file must be given together")
    if config.smtp_security == "none" and not (is_loopback(host) or config.smtp_insecure):
        yield BrokenRule(
            ("smtp_security", "smtp_host", "smtp_insecure"),
            "smtp_security none lets everybody on the way read codes and passwords: use starttls"
            " or tls, or, for a trial in a network that you trust, set smtp_insecure",
        )
    yield from _addresses(config)


def _addresses(config: Config) -> Iterator[BrokenRule]:
    if not config.smtp_from:
        message = "smtp_from is missing: the address that mails come from, as no-reply@example.com"
        yield BrokenRule(("smtp_from", "smtp_host"), message)
    for name in ("smtp_from", "smtp_reply_to"):
        address = getattr(config, name)
        match = _MAILBOX.fullmatch(address)
        if address and not (match and _is_host(match[1].lower(), is_bracketed=False)):
            yield BrokenRule(
                (name,), f"{name} must be a plain address such as no-reply@example.com"
            )
    if not _SENDER_NAME.fullmatch(config.smtp_from_name):
        message = "smtp_from_name must be at most 100 characters in one line"
        yield BrokenRule(("smtp_from_name",), message)


def _mail_links(config: Config) -> Iterator[BrokenRule]:
    for origin in config.mail_link_origins:
        parts = origin.partition("://")
        host = parts[2].partition(":")[0]
        if parts[0] != "https" or not re.fullmatch(r"[^:]+(:[0-9]{1,5})?", parts[2]):
            host = ""
        if not _is_host(host, is_bracketed=False):
            message = (
                f"mail_link_origins: {origin!r} is no origin such as https://shop.example.com"
            )
            yield BrokenRule(("mail_link_origins",), message)


def _text_messages(config: Config) -> Iterator[BrokenRule]:
    if bool(config.sms_hook_url) != bool(config.sms_hook_secret_file):
        names = ("sms_hook_url", "sms_hook_secret_file")
        yield BrokenRule(names, "sms_hook_url and sms_hook_secret_file must be given together")
    if not config.sms_hook_url:
        return
    if not _is_safe_url(config.sms_hook_url):
        yield BrokenRule(
            ("sms_hook_url",), "sms_hook_url must be an https address (http on this machine)"
        )


def _passwords(config: Config) -> Iterator[BrokenRule]:
    if config.password_min_length_with_factor > config.password_min_length:
        yield BrokenRule(
            ("password_min_length_with_factor", "password_min_length"),
            "password_min_length_with_factor must not be longer than password_min_length",
        )
    if len(config.password_words) > _MAX_PASSWORD_WORDS:
        yield BrokenRule(
            ("password_words",), f"password_words must be at most {_MAX_PASSWORD_WORDS} words"
        )
    if config.breached_passwords_url and not _is_safe_url(config.breached_passwords_url):
        yield BrokenRule(
            ("breached_passwords_url",),
            "breached_passwords_url must be an https address (http on this machine)",
        )


def _is_safe_url(url: str) -> bool:
    """Whether a URL is https, or http on this machine, and can be called unchanged."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    if "#" in url or "@" in parts.netloc or not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))


def _traces(config: Config) -> Iterator[BrokenRule]:
    endpoint = config.otlp_endpoint
    if endpoint is None:
        if config.otlp_headers_file is not None:
            yield BrokenRule(
                ("otlp_headers_file", "otlp_endpoint"),
                "otlp_headers_file has an effect only with otlp_endpoint",
            )
    elif not _is_collector(endpoint):
        yield BrokenRule(
            ("otlp_endpoint",),
            "otlp_endpoint must be the base URL of a collector, such as http://127.0.0.1:4318, "
            "without user, query and fragment",
        )


def _is_collector(url: str) -> bool:
    """Whether a URL is http or https, and a path can be appended to it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    is_plain = url.isascii() and not re.search(r"[\s?#\\]", url) and "@" not in parts.netloc
    return is_plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _object_storage(config: Config) -> Iterator[BrokenRule]:
    """Checks the addresses of object storage. That of Google Cloud Storage is https, or http for
    an emulator if both the emulator and the service are on this machine.
    """
    url = config.gcs_endpoint
    is_local = config.is_loopback and _is_server(url) and is_loopback(urlsplit(url).hostname or "")
    if not _is_server(url) or not (is_local or url.startswith("https:")):
        yield BrokenRule(
            ("gcs_endpoint",),
            "gcs_endpoint must be https:// and a host, with a port at most (http for an emulator, "
            "if all is on this machine)",
        )
    if not all(_is_server(each) for each in config.object_storage_servers):
        yield BrokenRule(
            ("object_storage_servers",),
            "object_storage_servers must be http(s)://HOST each, with a port at most",
        )


def _is_server(url: str) -> bool:
    """Whether a URL is http or https and a host, with a port at most."""
    return _is_collector(url) and url == "{0.scheme}://{0.netloc}".format(urlsplit(url)).lower()
