"""A certificate that only a test trusts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def self_signed(directory: Path, name: str = "localhost", days: int = 1) -> tuple[str, str]:
    """Creates one in a directory; returns the names of its file and of its key's."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.DNSName(name), x509.IPAddress(ip_address("127.0.0.1"))]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    _replace(directory / "chain.pem", signed.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    _replace(directory / "key.pem", private)
    return "chain.pem", "key.pem"


def _replace(path: Path, content: bytes) -> None:
    """Puts a new file in the place of the one that is there, as a renewal does."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)
