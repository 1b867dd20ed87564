"""Checks of the service from outside: its public address, the proxy in front, and the mail
server."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation, fail, ok, skipped, warn
from idp.foundation.i18n import Message, message
from idp.mail import smtp
from idp.mail.failures import NotSent
from idp.oauth.paths import KEYS
from idp.outgoing.failures import Failed
from idp.records import SIGNING_KEYS
from idp.start import proxy_warnings

_MIN_REMAINING: Final = timedelta(days=14)
_DISCOVERY: Final = "/.well-known/openid-configuration"
_OK: Final = 200


async def issuer_dns(installation: Installation) -> Finding:
    """Checks that the issuer's name has an address that others can reach."""
    host = urlsplit(installation.config.issuer).hostname or ""
    try:
        addresses = sorted(set(await installation.outgoing.addresses(host)))
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error).removeprefix(f"{host}: ")
        return fail(f"{host} has no address: {reason}")
    text = f"{host} has the address{'es' if len(addresses) > 1 else ''} {', '.join(addresses)}"
    own = [each for each in addresses if _is_own(each)]
    return warn(f"{text}: only this machine reaches {own[0]}") if own else ok(text)


def _is_own(address: str) -> bool:
    parsed = ip_address(address.partition("%")[0])
    return parsed.is_loopback or parsed.is_unspecified or parsed.is_link_local


async def issuer_tls(installation: Installation) -> Finding:
    """Checks that the certificate at the public address is trusted, and does not expire soon."""
    config = installation.config
    if not config.is_secure:
        return fail(f"{config.issuer} is not https", fix="Give the service an https issuer.")
    try:
        ends_at = await _certificate_end(installation)
    except Failed as error:
        is_seen = isinstance(error.__cause__, ssl.SSLCertVerificationError)
        fix = "" if is_seen else "Make the address reachable by TLS. No certificate was seen."
        return fail(f"no trusted TLS connection to {config.issuer}: {error}", fix=fix)
    text = f"the certificate of {config.issuer} is valid until {ends_at:%Y-%m-%d}"
    return warn(text) if ends_at - installation.wall_clock.now() < _MIN_REMAINING else ok(text)


async def _certificate_end(installation: Installation) -> datetime:
    certificate = await installation.outgoing.certificate(installation.config.issuer)
    seconds = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    return datetime.fromtimestamp(seconds, UTC)


async def issuer_self(installation: Installation) -> Finding:
    """Checks that the public address leads to this installation."""
    issuer = installation.config.issuer
    try:
        metadata = await _document(installation, _DISCOVERY)
        keys = await _document(installation, KEYS)
    except Failed as error:
        return fail(f"{issuer} can't be reached: {error}")
    if metadata.get("issuer") != issuer:
        return fail(f"{issuer}{_DISCOVERY} names another issuer")
    if installation.store is None or not installation.has_records:
        return ok(f"{issuer} names itself as the issuer; its keys were not compared")
    own = {key.id async for key in installation.store.scan(SIGNING_KEYS, {"use": "sig"})}
    if own.isdisjoint(each.get("kid") for each in keys.get("keys", [])):
        return fail(f"{issuer} has none of the keys in this store: it is another installation")
    return ok(f"{issuer} leads to this installation")


async def _document(installation: Installation, path: str) -> dict[str, Any]:
    """Returns the JSON object at a path of the issuer. Raises Failed."""
    status, text = await installation.outgoing.get_own(installation.config.issuer + path)
    if status != _OK:
        raise Failed(f"{path} answered {status}")
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Failed(f"{path} answered with something other than JSON") from error


async def proxy_address(installation: Installation) -> Finding:
    """Checks that `trusted_proxies` names only some addresses, and that no other address has sent
    X-Forwarded-For in the last seven days.
    """
    networks = [ip_network(each, strict=False) for each in installation.config.trusted_proxies]
    if open_networks := [str(each) for each in networks if each.prefixlen == 0]:
        return fail(
            f"trusted_proxies has {open_networks[0]}: anyone can forge the client's address",
            fix="Name the addresses of your own proxies only.",
        )
    if installation.store is None or not installation.has_records:
        return skipped(installation.store_problem)
    warnings = await proxy_warnings.find_all(installation.store)
    unnamed = [
        each.id
        for each in warnings
        if not any(ip_address(each.id) in network for network in networks)
    ]
    if not unnamed:
        return ok("only addresses in trusted_proxies have sent X-Forwarded-For this week")
    return Finding(
        "warn",
        "X-Forwarded-For of these addresses was ignored this week",
        names=unnamed[:MAX_NAMED],
        count=len(unnamed),
    )


async def mail_reach(installation: Installation) -> Finding:
    """Checks that the mail server accepts a connection and the credentials. Nothing is sent."""
    config = installation.config
    if not config.sends_mail:
        return warn(
            "there is no mail server: users receive no codes and links",
            fix="Name one by the settings smtp_host and smtp_from.",
        )
    server = f"{config.smtp_host}:{smtp.port(config)}"
    try:
        async with smtp.connection(config):
            return ok(f"{server} accepts mail")
    except NotSent as error:
        return fail(f"{server} can't be used: {error.reason}")


CHECKS: Final = (
    DoctorCheck(
        id="issuer.dns",
        area="outside",
        about=Message("The issuer's name has addresses that other machines can reach."),
        fix=Message("Add A and AAAA records for the name; check /etc/hosts on this machine, too."),
        run=issuer_dns,
    ),
    DoctorCheck(
        id="issuer.tls",
        area="outside",
        about=Message("The issuer's certificate is trusted, and valid for at least 14 more days."),
        fix=Message("Renew the certificate where TLS is terminated, with its whole chain."),
        run=issuer_tls,
    ),
    DoctorCheck(
        id="issuer.self",
        area="outside",
        about=Message("The public address leads to this installation."),
        fix=Message(
            "Check where the issuer's name leads. If this machine can't reach its own public"
            " address, add it to /etc/hosts."
        ),
        run=issuer_self,
    ),
    DoctorCheck(
        id="proxy.address",
        area="outside",
        about=message("X-Forwarded-For is trusted as configured.", context="safety"),
        fix=message(
            "If your proxy is listed, add it to trusted_proxies. Ignore the others.",
            context="safety",
        ),
        run=proxy_address,
    ),
    DoctorCheck(
        id="mail.reach",
        area="outside",
        about=Message("The mail server can be reached; no mail is sent."),
        fix=Message("Compare the settings smtp_* with those of the mail server."),
        run=mail_reach,
    ),
)
