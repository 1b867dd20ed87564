"""Settings: what an operator may choose.

To add one, add a line to `Config` (and to `RANGES` for a number). Rules between settings are in
`idp/config/rules.py`, the sources of values in `idp/config/loading.py`, and the defaults that
differ between a trial and a public installation in `idp/config/profiles.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from idp.config import urls
from idp.config.profiles import PUBLIC, TRIAL, ApplicationUsers, ProfileDefaults

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


# The default of a setting that depends on the profile; `Config` replaces it by the profile's.
_PROFILE_DEFAULT: Final[Any] = None


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings. `load` validates them; a Config that is created directly is not validated."""

    # Where it runs
    data: str = "idp-data"  # directory of the SQLite file and the master key; back it up
    host: str = "127.0.0.1"  # the address to listen on
    port: int = 8080  # the port to listen on; 0 picks a free one
    issuer: str = ""  # where browsers and clients reach the service; http(s)://localhost:PORT
    backup_dir: str | None = None  # where `idp backup --into` writes; the age is checked
    store: str = ""  # sqlite:///PATH, memory:// or mongodb://…; idp.sqlite3 in the data directory
    store_password_file: str | None = None  # file with the password of the user in a mongodb URL
    processes: int = 1  # how many processes share the port
    tls_cert: str | None = None  # PEM file of the certificate chain; without it, plain HTTP
    tls_key: str | None = None  # PEM file of the certificate's private key
    insecure_http: bool = False  # allow an http issuer beyond this machine: never in production
    trusted_proxies: tuple[str, ...] = ()  # addresses, networks of proxies that are believed
    outgoing_networks: tuple[str, ...] = ()  # private networks where applications are called
    gcs_endpoint: str = "https://storage.googleapis.com"  # where Google Cloud Storage is reached
    object_storage_servers: tuple[str, ...] = ()  # further servers of S3, Azure: http(s)://HOST
    test: bool = False  # a clock that can be set, and a temporary store unless one is named
    profile: Literal["auto", "trial", "public"] = "auto"  # how strict the defaults are
    allow_trial_network: bool = False  # a loopback issuer may listen beyond loopback (containers)
    shutdown_delay_seconds: int = 0  # how long connections are accepted after SIGTERM
    drain_seconds: int = 20  # how long requests may finish after that
    worker_timeout_seconds: int = 30  # a process without response for so long is replaced
    max_connections: int = 10_000  # open connections of one process
    first_request_seconds: int = 10  # a new connection without a request is closed after so long
    max_header_bytes: int = 16 * 1024  # longest request head; a longer one is answered by 431
    max_form_bytes: int = 64 * 1024  # longest form body; a longer one is answered by 413
    max_json_bytes: int = 1024 * 1024  # longest JSON body; a longer one is answered by 413
    max_import_bytes: int = 8 * 1024**3  # longest package; a longer one is answered by 413

    # Metrics
    metrics_listen: str | None = None  # ADDRESS:PORT that answers Prometheus at /metrics
    metrics_token_file: str | None = None  # file with the bearer token that a scrape has to send

    # Names
    vendor: str = "idp"  # the vendor part of urn:VENDOR:… scopes and of x-VENDOR-… headers
    default_language: str = "en"  # language of pages and mails when the person's is not known
    default_time_zone: str = "UTC"  # time zone of pages when the user's is not known
    admin_login_name: str = "admin@localhost"  # login name of the first administrator

    # Keys and secrets
    admin_pat: str | None = None  # file that receives an administrator's access token (24 hours)
    master_key_file: str | None = None  # the master key's file; master.key in the data directory
    master_key: str | None = None  # the master key itself, for platforms that inject secrets
    old_master_key_files: tuple[str, ...] = ()  # files of further master keys, to read with
    key_rotation_seconds: int = 30 * DAY  # how long a key signs until the next one does

    # Logs
    log_level: Literal["debug", "info", "warning", "error"] = "info"  # lowest level that is logged
    log_format: Literal["auto", "json", "text"] = "auto"  # auto: text on a terminal, else JSON

    # Audit log
    audit_change_days: int = 0  # days for which events of changes stay, 7 or more; 0: for ever
    audit_access_days: int = 400  # the same for sessions, authorizations, consents and tokens
    audit_failure_days: int = 90  # the same for refused attempts

    # Traces
    otlp_endpoint: str | None = None  # base URL of a collector (OTLP/HTTP); needs idp[otel]
    otlp_headers_file: str | None = None  # file of name=value lines: headers for the collector
    trace_ratio: float = 0.05  # share of new traces that is sampled

    # Password hashing
    password_hasher: Literal["argon2id", "bcrypt"] = "argon2id"  # how new passwords are hashed  # noqa: S105
    password_min_length: int = _PROFILE_DEFAULT  # shortest password that people choose
    password_min_length_with_factor: int = 8  # the same where a second factor is asked for
    password_min_strength: int = _PROFILE_DEFAULT  # lowest zxcvbn score of these passwords; 0: any
    password_words: tuple[str, ...] = ()  # words that no password may consist of, besides names
    breached_passwords: str | None = None  # sorted file of SHA-1 hashes of known passwords
    breached_passwords_min_count: int = 1  # how often a password was seen before it is refused
    breached_passwords_url: str = ""  # https address of a k-anonymity range service
    hashing_threads: int = 0  # passwords hashed at once; 0: the cores, shared by the processes
    hashing_queue: int = 64  # sign-ins that may wait for a hash before the service answers 503
    imported_argon2_min_kib: int = 7 * 1024  # minimum memory of an imported Argon2 hash
    imported_bcrypt_min_cost: int = 10  # minimum cost of an imported bcrypt hash
    imported_pbkdf2_min_rounds: int = 1000  # minimum rounds of an imported PBKDF2 hash
    imported_scrypt_min_cost: int = 14  # minimum log2(N) of an imported scrypt hash

    # Lifetimes
    code_seconds: int = 60  # authorization code: usually redeemed immediately
    access_token_seconds: int = 12 * HOUR  # opaque access token: can be revoked at any time
    jwt_access_token_seconds: int = HOUR  # JWT or implicit: shorter, few APIs check revocation
    id_token_seconds: int = 12 * HOUR  # ID token: the time until its `exp`
    refresh_token_idle_seconds: int = 30 * DAY  # a refresh token that is not used
    refresh_token_seconds: int = 90 * DAY  # a refresh token, however often it is used
    session_idle_seconds: int = 12 * HOUR  # a browser session that is not used
    session_seconds: int = 30 * DAY  # a browser session, however often it is used
    password_check_seconds: int = 10 * DAY  # until a password is asked for again, without a policy
    sign_in_seconds: int = HOUR  # a sign-in that was begun and not finished
    one_time_password_seconds: int = HOUR  # the first administrator's one-time password

    # Registration
    self_registration: bool = _PROFILE_DEFAULT  # people may open accounts, if no policy differs

    # New applications, tokens and keys
    new_application_users: ApplicationUsers = _PROFILE_DEFAULT  # who may use a new application
    pat_max_days: int = _PROFILE_DEFAULT  # longest life of a personal access token; 0: no limit
    key_max_days: int = _PROFILE_DEFAULT  # longest life of a registered key; 0: no limit
    acting_token_seconds: int = HOUR  # access token of an actor, who acts for another user

    # Mail and text messages
    smtp_host: str = ""  # the mail server; without one, mail is held in the store
    smtp_port: int = 0  # its port; 0: 587 with starttls, 465 with tls, 25 with none
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"  # TLS of the connection
    smtp_insecure: bool = False  # allow none beyond this machine: never in production
    smtp_ca_file: str | None = None  # PEM file of its CA certificates; the system's
    smtp_user: str = ""  # username at the mail server, if it requires one
    smtp_password_file: str | None = None  # file with the password of smtp_user
    smtp_timeout_seconds: int = 20  # how long each of its answers may take
    smtp_from: str = ""  # the address that mails come from
    smtp_from_name: str = ""  # the name that mails come from
    smtp_reply_to: str = ""  # the address for replies, if it is another one
    organization_mails_per_day: int = 2000  # codes and invitations by calls of its managers
    mail_link_origins: tuple[str, ...] = ()  # origins that mails may lead to beside applications'
    sms_hook_url: str = ""  # URL that receives text messages by POST; else they are held
    sms_hook_secret_file: str | None = None  # file with the secret that signs these calls

    # Guessing
    sign_in_failures_before_delay: int = 5  # attempts at one login name that start no delay
    sign_in_delay_max_seconds: int = 60  # the longest wait of an account after a failed attempt
    sign_in_failures_limit: int = 90  # wrong passwords in a row, five ninths by unknown browsers
    address_accounts_before_delay: int = 100  # failed accounts before a network is slowed down
    known_networks: tuple[str, ...] = ()  # networks that are not slowed down, such as an office
    refused_credentials_limit: int = 100  # wrong tokens or secrets in 10 min., then 429

    def __post_init__(self) -> None:
        """Derives settings that were left out: the issuer from the port, the store from the data
        directory, and defaults from the profile."""
        if not self.issuer:
            msgspec.structs.force_setattr(self, "issuer", self._local_issuer)
        if not self.store and not self.test:
            msgspec.structs.force_setattr(self, "store", f"sqlite:///{self.data}/idp.sqlite3")
        for name, value in self.profile_defaults._asdict().items():
            if getattr(self, name) is None:
                msgspec.structs.force_setattr(self, name, value)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={displayed(self, name)!r}" for name in self.__struct_fields__)
        return f"Config({values})"

    @property
    def origin(self) -> str:
        """The web origin of the issuer: its scheme, host and port."""
        parts = urlsplit(self.issuer)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_secure(self) -> bool:
        """Whether the issuer is https."""
        return self.issuer.startswith("https://")

    @property
    def is_loopback(self) -> bool:
        """Whether the issuer is on the local machine, as the demo, held mail and http require."""
        return urls.is_on_loopback(self.issuer)

    @property
    def is_public(self) -> bool:
        """Whether the strict defaults apply: by the setting, or because the issuer is not on this
        machine."""
        if self.profile == "auto":
            return not (self.is_loopback or self.test)
        return self.profile == "public"

    @property
    def profile_defaults(self) -> ProfileDefaults:
        """The defaults of the profile in force."""
        return PUBLIC if self.is_public else TRIAL

    @property
    def sends_mail(self) -> bool:
        """Whether there is a mail server: without one, mail is held."""
        return bool(self.smtp_host)

    @property
    def is_temporary(self) -> bool:
        """Whether the store is a temporary one, which exists as long as the program runs."""
        return self.test and not self.store

    @property
    def is_in_memory(self) -> bool:
        """Whether only this process can open the store."""
        return self.store == "memory://"

    @property
    def data_dir(self) -> Path:
        """The data directory, which is the one to back up."""
        return Path(self.data)

    def bound_to(self, port: int) -> Config:
        """Returns the settings with this port, on which the socket listens in fact; an issuer that
        was derived from the setting `port` is derived from this one."""
        issuer = "" if self.issuer == self._local_issuer else self.issuer
        return msgspec.structs.replace(self, port=port, issuer=issuer)

    @property
    def _local_issuer(self) -> str:
        scheme, default_port = ("https", 443) if self.tls_cert else ("http", 80)
        return f"{scheme}://localhost" + ("" if self.port == default_port else f":{self.port}")


RANGES: Final = {
    "port": (0, 65535),
    "processes": (1, 256),
    "shutdown_delay_seconds": (0, 5 * MINUTE),
    "drain_seconds": (0, HOUR),
    "worker_timeout_seconds": (5, 5 * MINUTE),
    "max_connections": (64, 1_000_000),
    "first_request_seconds": (1, 75),
    "max_header_bytes": (4096, 1024 * 1024),
    "max_form_bytes": (4096, 16 * 1024 * 1024),
    "max_json_bytes": (4096, 8 * 1024 * 1024),
    "max_import_bytes": (64 * 1024, 1024**4),
    "key_rotation_seconds": (HOUR, 3650 * DAY),
    "audit_change_days": (0, 36_500),
    "audit_access_days": (0, 36_500),
    "audit_failure_days": (0, 36_500),
    "trace_ratio": (0, 1),
    "password_min_length": (8, 64),
    "password_min_length_with_factor": (8, 64),
    "password_min_strength": (0, 4),
    "breached_passwords_min_count": (1, 1_000_000_000),
    "hashing_threads": (0, 256),
    "hashing_queue": (1, 10_000),
    "imported_argon2_min_kib": (8, 128 * 1024),
    "imported_bcrypt_min_cost": (4, 14),
    "imported_pbkdf2_min_rounds": (1, 2_000_000),
    "imported_scrypt_min_cost": (1, 20),
    "code_seconds": (10, 10 * MINUTE),
    "access_token_seconds": (MINUTE, 30 * DAY),
    "jwt_access_token_seconds": (MINUTE, DAY),
    "id_token_seconds": (MINUTE, 30 * DAY),
    "refresh_token_idle_seconds": (MINUTE, 3650 * DAY),
    "refresh_token_seconds": (MINUTE, 3650 * DAY),
    "session_idle_seconds": (MINUTE, 365 * DAY),
    "session_seconds": (MINUTE, 365 * DAY),
    "password_check_seconds": (MINUTE, 3650 * DAY),
    "sign_in_seconds": (MINUTE, DAY),
    "one_time_password_seconds": (MINUTE, 7 * DAY),
    "pat_max_days": (0, 3650),
    "key_max_days": (0, 3650),
    "acting_token_seconds": (MINUTE, HOUR),
    "smtp_port": (0, 65535),
    "smtp_timeout_seconds": (1, 60),
    "organization_mails_per_day": (1, 10_000_000),
    "sign_in_failures_before_delay": (1, 20),
    "sign_in_failures_limit": (10, 90),
    "address_accounts_before_delay": (10, 200),
    "refused_credentials_limit": (1, 1_000_000),
    "sign_in_delay_max_seconds": (1, HOUR),
}

TYPES: Final[Mapping[str, Any]] = {
    field.name: field.type for field in msgspec.structs.fields(Config)
}
SECRETS: Final = frozenset({"master_key"})


def displayed(config: Config, name: str) -> object:
    """Returns the value of the setting with this name for display: `(hidden)` for a secret, and
    the store's URL without its password."""
    value = getattr(config, name)
    if name in SECRETS:
        return "(hidden)" if value else value
    return urls.without_password(value) if name == "store" else value
