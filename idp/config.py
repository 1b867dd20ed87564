"""Settings: what an operator may choose, where each value came from, and what is refused.

A setting comes from, weakest first: its default, the TOML file, the environment (`IDP_<NAME>`),
a flag of the command line. To add one, add a line to `Config` (and to `RANGES` for a number);
rules between settings are in `idp/config_rules.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from idp import config_rules
from idp.errors import ConfigError

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every setting. `load` checks them; one that is made directly is taken at its word."""

    # Where it runs
    data: str = "idp-data"  # directory of the SQLite file and the master key; back it up
    host: str = "127.0.0.1"  # the address to listen on
    port: int = 8080  # the port to listen on; 0 picks a free one
    issuer: str = ""  # where browsers and clients reach the service; http(s)://localhost:PORT
    store: str = ""  # sqlite:///PATH, memory:// or mongodb://…; idp.sqlite3 in the data directory
    processes: int = 1  # how many processes share the port
    tls_cert: str | None = None  # PEM file of the certificate chain; without it, plain HTTP
    tls_key: str | None = None  # PEM file of the certificate's private key
    insecure_http: bool = False  # allow an http issuer beyond this machine: never in production
    trusted_proxies: tuple[str, ...] = ()  # addresses, networks whose X-Forwarded-For is believed
    outgoing_networks: tuple[str, ...] = ()  # private networks that applications are called in
    gcs_endpoint: str = "https://storage.googleapis.com"  # where object storage is reached
    test: bool = False  # a clock that can be set, and a temporary store unless one is named
    drain_seconds: int = 20  # how long requests may finish after SIGTERM
    max_header_bytes: int = 16 * 1024  # longest request head; a longer one is answered by 431
    max_form_bytes: int = 64 * 1024  # longest form body; a longer one is answered by 413
    max_json_bytes: int = 1024 * 1024  # longest JSON body; a longer one is answered by 413
    max_import_bytes: int = 8 * 1024**3  # longest package that is sent; then 413

    # Names
    vendor: str = "idp"  # the vendor part of urn:VENDOR:… scopes and of x-VENDOR-… headers
    default_language: str = "en"  # language of pages and mails when the person's is not known
    admin_login_name: str = "admin@localhost"  # login name of the first administrator

    # Keys and secrets
    admin_pat: str | None = None  # file that receives an administrator's access token (24 hours)
    master_key_file: str | None = None  # the master key's file; master.key in the data directory
    master_key: str | None = None  # the master key itself, for platforms that inject secrets
    key_rotation_seconds: int = 30 * DAY  # how long a key signs until the next one takes over

    # Logs
    log_level: Literal["debug", "info", "warning", "error"] = "info"  # the least that is logged
    log_format: Literal["auto", "json", "text"] = "auto"  # auto: text on a terminal, else JSON

    # Password hashing
    password_hasher: Literal["argon2id", "bcrypt"] = "argon2id"  # how new passwords are hashed  # noqa: S105
    password_min_length: int = 8  # shortest new password, if no policy says otherwise
    hashing_threads: int = 0  # passwords hashed at once; 0: the cores, shared by the processes
    hashing_queue: int = 64  # sign-ins that may wait for a hash before the service answers 503
    imported_argon2_min_kib: int = 7 * 1024  # least memory of an Argon2 hash from elsewhere
    imported_bcrypt_min_cost: int = 10  # least cost of a bcrypt hash from elsewhere
    imported_pbkdf2_min_rounds: int = 1000  # least rounds of a PBKDF2 hash from elsewhere
    imported_scrypt_min_cost: int = 14  # least N of a scrypt hash from elsewhere: 2 to that

    # Lifetimes
    code_seconds: int = 60  # authorization code: redeemed at once, as a rule
    access_token_seconds: int = 12 * HOUR  # opaque access token: can be revoked at any time
    jwt_access_token_seconds: int = HOUR  # JWT or implicit: shorter, as few ask if it is revoked
    id_token_seconds: int = 12 * HOUR  # ID token: what its `exp` says
    refresh_token_idle_seconds: int = 30 * DAY  # a refresh token that is not used
    refresh_token_seconds: int = 90 * DAY  # a refresh token, however often it is used
    session_idle_seconds: int = 12 * HOUR  # a browser session that is not used
    session_seconds: int = 30 * DAY  # a browser session, however often it is used
    password_check_seconds: int = 10 * DAY  # how long a password counts, without a policy
    sign_in_seconds: int = HOUR  # a sign-in that was begun and not finished
    one_time_password_seconds: int = HOUR  # the first administrator's one-time password

    # Registration
    self_registration: bool = True  # people may open accounts, if no policy says otherwise

    # Mail and text messages
    smtp_host: str = ""  # the mail server; without one, mail is held in the store
    smtp_port: int = 0  # its port; 0: 587 with starttls, 465 with tls, 25 with none
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"  # how what is sent is hidden
    smtp_insecure: bool = False  # allow none beyond this machine: never in production
    smtp_ca_file: str | None = None  # PEM file of who may vouch for it; the system's
    smtp_user: str = ""  # who the service is to the mail server, if it wants to know
    smtp_password_file: str | None = None  # file with the password of smtp_user
    smtp_timeout_seconds: int = 20  # how long each of its answers may take
    smtp_from: str = ""  # the address that mails come from
    smtp_from_name: str = ""  # the name that they come from
    smtp_reply_to: str = ""  # the address that answers go to, if it is another
    mail_link_origins: tuple[str, ...] = ()  # origins that mails may lead to beside applications'
    sms_hook_url: str = ""  # who sends text messages: an address for POST; without, they are held
    sms_hook_secret_file: str | None = None  # file with the secret that signs these calls

    # Guessing
    sign_in_failures_before_delay: int = 5  # failures of one account before it has to wait
    address_failures_before_delay: int = 20  # failures from one address before it has to wait
    sign_in_delay_max_seconds: int = 60  # the longest that one failure makes an account wait
    refused_credentials_limit: int = 100  # wrong tokens or secrets in 10 min., then 429

    def __post_init__(self) -> None:
        """Derive what was left out: the issuer from the port, the store from the directory."""
        if not self.issuer:
            msgspec.structs.force_setattr(self, "issuer", self._local_issuer)
        if not self.store and not self.test:
            msgspec.structs.force_setattr(self, "store", f"sqlite:///{self.data}/idp.sqlite3")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_shown(self, name)!r}" for name in self.__struct_fields__)
        return f"Config({values})"

    @property
    def origin(self) -> str:
        """Scheme, host and port of the issuer: what a browser calls its origin."""
        parts = urlsplit(self.issuer)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_secure(self) -> bool:
        """Whether the issuer is https."""
        return self.issuer.startswith("https://")

    @property
    def is_loopback(self) -> bool:
        """Whether the issuer names this machine only. Demo, held mail and http are for these."""
        return config_rules.is_loopback(urlsplit(self.issuer).hostname or "")

    @property
    def sends_mail(self) -> bool:
        """Whether there is a mail server: without one, mail is held."""
        return bool(self.smtp_host)

    @property
    def is_temporary(self) -> bool:
        """Whether the store is still to be made, for as long as the program runs."""
        return self.test and not self.store

    @property
    def is_in_memory(self) -> bool:
        """Whether nobody but this process can open the store."""
        return self.store == "memory://"

    @property
    def data_dir(self) -> Path:
        """The directory to back up."""
        return Path(self.data)

    def bound_to(self, port: int) -> Config:
        """The settings once the socket's port is known; an issuer that was derived follows."""
        issuer = "" if self.issuer == self._local_issuer else self.issuer
        return msgspec.structs.replace(self, port=port, issuer=issuer)

    @property
    def _local_issuer(self) -> str:
        scheme, usual = ("https", 443) if self.tls_cert else ("http", 80)
        return f"{scheme}://localhost" + ("" if self.port == usual else f":{self.port}")


RANGES: Final = {
    "port": (0, 65535),
    "processes": (1, 256),
    "drain_seconds": (0, HOUR),
    "max_header_bytes": (4096, 1024 * 1024),
    "max_form_bytes": (4096, 16 * 1024 * 1024),
    "max_json_bytes": (4096, 8 * 1024 * 1024),
    "max_import_bytes": (64 * 1024, 1024**4),
    "key_rotation_seconds": (HOUR, 3650 * DAY),
    "password_min_length": (8, 64),
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
    "smtp_port": (0, 65535),
    "smtp_timeout_seconds": (1, 60),
    "sign_in_failures_before_delay": (1, 100),
    "address_failures_before_delay": (1, 10_000),
    "refused_credentials_limit": (1, 1_000_000),
    "sign_in_delay_max_seconds": (1, HOUR),
}

TYPES: Final[Mapping[str, Any]] = {
    field.name: field.type for field in msgspec.structs.fields(Config)
}
SECRETS: Final = frozenset({"master_key"})

# IDP_ variables that are no settings: where the file is, what the commands say of the service that
# they speak to, and what the test suite reads.
FILE_VARIABLE: Final = "IDP_CONFIG"
URL_VARIABLE: Final = "IDP_URL"
TOKEN_VARIABLE: Final = "IDP_TOKEN"  # noqa: S105 - a name
PASSWORD_VARIABLE: Final = "IDP_PASSWORD"  # noqa: S105 - a name
TEST_PREFIX: Final = "IDP_TEST_"
_NO_SETTINGS: Final = (FILE_VARIABLE, URL_VARIABLE, TOKEN_VARIABLE, PASSWORD_VARIABLE)


class Loaded(NamedTuple):
    """Settings that are fit to run with, and where each came from."""

    config: Config
    origins: Mapping[str, str]


class Described(NamedTuple):
    """A setting for people: secrets are not shown."""

    name: str
    value: str
    origin: str


class _Given(NamedTuple):
    value: object
    origin: str
    is_text: bool  # from an environment or a command line: to be read as the setting's type


def load(
    flags: Mapping[str, object],
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Loaded:
    """Settings from everywhere. Raises ConfigError with every problem at once.

    A flag that is None or empty was not given, nor was an empty variable. Without
    `environment`, the process's own is read; without `file`, the one that IDP_CONFIG names.
    """
    environment = os.environ if environment is None else environment
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    problems: list[str] = []
    given = _from_file(file, problems) if file else {}
    given |= _from_environment(environment, problems) | _from_flags(flags, problems)
    values = {name: _converted(name, each, problems) for name, each in given.items()}
    unusable = {name for name, value in values.items() if value is None}
    config = Config(**{name: values[name] for name in values.keys() - unusable})
    problems += [
        f"{each.text} ({_where(each.names, given)})"
        for each in config_rules.check(config)
        if not unusable & set(each.names)
    ]
    if problems:
        raise ConfigError(problems)
    origins = {name: given[name].origin if name in given else "default" for name in TYPES}
    return Loaded(config, origins)


def from_environment(name: str) -> str | None:
    """What the environment holds under that name, if it is anything."""
    return os.environ.get(name) or None


def describe(loaded: Loaded) -> list[Described]:
    """Each setting, its value and where it came from, as `idp config show --origin` prints it."""
    return [
        Described(name, _text(_shown(loaded.config, name)), loaded.origins[name]) for name in TYPES
    ]


def _from_file(file: Path, problems: list[str]) -> dict[str, _Given]:
    import tomllib  # the usual start has no file

    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"the settings file {file} can't be read: {error.strerror}")
        return {}
    except ValueError as error:  # TOML and UTF-8 alike
        problems.append(f"the settings file {file} is not TOML: {error}")
        return {}
    known = _known(table, {name: name for name in TYPES}, f"in {file}: ", problems)
    return {name: _Given(value, f"file {file}", False) for name, value in known.items()}


def _from_environment(environment: Mapping[str, str], problems: list[str]) -> dict[str, _Given]:
    ours = {
        variable: value
        for variable, value in environment.items()
        if value
        and variable.startswith("IDP_")
        and variable not in _NO_SETTINGS
        and not variable.startswith(TEST_PREFIX)
    }
    names = {_variable(name): name for name in TYPES}
    known = _known(ours, names, "in the environment: ", problems)
    return {
        name: _Given(value, f"environment {_variable(name)}", True)
        for name, value in known.items()
    }


def _from_flags(flags: Mapping[str, object], problems: list[str]) -> dict[str, _Given]:
    given = {name: value for name, value in flags.items() if value not in (None, "", (), [])}
    known = _known(given, {name: name for name in TYPES}, "on the command line: ", problems)
    return {
        name: _Given(value, f"flag --{name.replace('_', '-')}", isinstance(value, str))
        for name, value in known.items()
    }


def _known(
    table: Mapping[str, object], names: Mapping[str, str], where: str, problems: list[str]
) -> dict[str, object]:
    """The entries that are settings, by the setting's name; a problem for each other one."""
    for key in sorted(table.keys() - names.keys()):
        from difflib import get_close_matches  # only for who mistyped

        near = get_close_matches(key, names, n=1, cutoff=0)
        problems.append(f"{where}{key} is not a setting; the nearest is {near[0]}")
    return {names[key]: value for key, value in table.items() if key in names}


def _converted(name: str, given: _Given, problems: list[str]) -> Any:
    """The value in the setting's type and range, or None and a problem."""
    kind = TYPES[name]
    try:
        value = _parsed(str(given.value), kind) if given.is_text else given.value
        value = msgspec.convert(value, kind)
        least, most = RANGES.get(name, (value, value))
        if least <= value <= most:
            return value
        expected = f"must be from {least} to {most}"
    except (ValueError, msgspec.ValidationError):
        expected = _expectation(kind)
    problems.append(f"{name} {expected} ({given.origin})")
    return None


def _parsed(text: str, kind: Any) -> object:
    """Text from an environment or a command line as a value. Raises ValueError."""
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text, text)
    if kind is int:
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise ValueError  # int() takes underscores, spaces and foreign digits too
        return int(text)
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _expectation(kind: Any) -> str:
    if kind is bool:
        return "must be true or false (in the environment 1 and 0 do as well)"
    if kind is int:
        return "must be a whole number"
    if kind == tuple[str, ...]:
        return "must be a list of texts (in the environment, separated by commas)"
    if kind in (str, str | None):
        return "must be text"
    return f"must be one of {', '.join(get_args(kind))}"


def _variable(name: str) -> str:
    return f"IDP_{name.upper()}"


def _where(names: tuple[str, ...], given: Mapping[str, _Given]) -> str:
    return ", ".join(given[name].origin for name in names if name in given) or "default"


def _shown(config: Config, name: str) -> object:
    value = getattr(config, name)
    if name in SECRETS:
        return "(hidden)" if value else value
    return config_rules.without_password(value) if name == "store" else value


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)
