"""Fills the service before it is measured, with clients, people and service users.

The tokens are those of real sign-ins, which the load's own requests make.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.protocol.load import held
from benchmarks.protocol.party import PASSWORD, Client, Machine, Party
from idp.config.settings import Config
from idp.foundation import opaque_tokens
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.identity.users.subjects import Subject
from idp.oauth.paths import DISCOVERY, KEYS
from idp.records import (
    APPLICATIONS,
    INSTANCE_ID,
    INSTANCES,
    PATS,
    SESSIONS,
    USERS,
    Application,
    Email,
    Password,
    Profile,
    User,
)
from idp.service import Service
from idp.start import bootstrap, first_start
from storage import Insert, Write

_HIDDEN: Final = '<input type="hidden" name="token" value="([^"]+)">'


async def fill(config: Config, count: int) -> Party:
    """Stores `count` people with a session each, and as many service users, in an installation."""
    service = await bootstrap.open_service(config, must_exist=True)
    try:
        return await _Filling(service).run(count)
    finally:
        await bootstrap.close_service(service)


def _person(n: int) -> str:
    """Returns the login name of a person."""
    return f"person-{n}"


class _Filling:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._now = service.clock.now()
        self._units: list[list[Write]] = []

    async def run(self, count: int) -> Party:
        instance = await self._service.store.get(INSTANCES, INSTANCE_ID)
        assert instance is not None
        self._organization = await first_start.find_default_organization(self._service, instance)
        self._project = await first_start.find_default_project(self._service, self._organization)
        self._instance = instance
        self._hash = await self._service.hasher.hash(PASSWORD)
        party = Party(
            host=urlsplit(self._service.config.issuer).netloc,
            paths={
                "authorize": "/oauth/v2/authorize",
                "token": "/oauth/v2/token",
                "introspect": "/oauth/v2/introspect",
                "userinfo": "/oidc/v1/userinfo",
                "keys": KEYS,
                "discovery": DISCOVERY,
            },
            redirect_uri=f"{self._service.config.issuer}/cb",
            web=self._client(grant_types=["authorization_code", "refresh_token"]),
            api=self._client(app_type="api", grant_types=[]),
            signer=self._client(grant_types=["client_credentials"], access_token_type="jwt"),
            cookie_name="idp_agent",
            cookies=[self._signed_in(n) for n in range(count)],
            machines=self._machines(count),
            login_names=[_person(n) for n in range(count)],
            forms=[
                {"token": held("hidden"), "loginName": "{}", "passkey": ""},
                {"token": held("hidden"), "loginName": "{}", "password": PASSWORD},
            ],
            hidden=_HIDDEN,
        )
        outcomes = await self._service.store.commit_each(self._units)
        refused = [outcome for outcome in outcomes if outcome is not None]
        if refused:
            raise refused[0]
        return party

    def _client(self, **changes: Any) -> Client:
        client_id, secret = self._service.random.id(), self._service.random.token()
        record = Application(
            id=client_id,
            project_id=self._project.id,
            org_id=self._organization.id,
            name=f"Benchmark {client_id}",
            auth_method="client_secret_basic",
            redirect_uris=[f"{self._service.config.issuer}/cb"],
            stamp=self._service.random.token(bits=64),
            created_at=self._now,
            changed_at=self._now,
            secret_hash=opaque_tokens.digest(secret),
            **changes,
        )
        self._units.append([Insert(APPLICATIONS, record)])
        return Client(client_id, secret)

    def _signed_in(self, n: int) -> str:
        """Stores a person with a password, a browser and a session; returns the browser's
        cookie."""
        random, now = self._service.random, self._now
        user = self._user("human", _person(n))
        user.email = Email(address=f"{_person(n)}@example.com", is_verified=True)
        user.email_key = user.email.address
        user.password = Password(hash=self._hash, changed_at=now, is_long=True)
        browser_record = browsers.new(self._service).browser
        browser, cookie = browsers.rotation(random, browser_record, now, user)
        subject = self._subject(user)
        session = session_lifetime.new(random, self._service.config, cookie.browser, subject, now)
        self._units += [
            [Insert(USERS, user)],
            [browser],
            [Insert(SESSIONS, session)],
        ]
        return cookie.value

    def _user(self, kind: str, name: str) -> User:
        user = first_start.new_user(self._service, self._organization, kind, name, name, self._now)
        user.profile = Profile(display_name=name, given_name="Some", family_name="Body")
        return user

    def _subject(self, user: User) -> Subject:
        return Subject(instance=self._instance, organization=self._organization, user=user)

    def _machines(self, count: int) -> list[Machine]:
        return [self._machine(n) for n in range(count)]

    def _machine(self, n: int) -> Machine:
        """Stores a service user with a secret and a personal access token."""
        service, random, now = self._service, self._service.random, self._now
        user, secret = self._user("machine", f"machine-{n}"), random.token()
        user.secret_hash = opaque_tokens.digest(secret)
        expires_at = now + timedelta(days=1)
        pat, token = user_personal_access_tokens.new(
            random, service.config.vendor, self._subject(user), now, expires_at
        )
        self._units += [[Insert(USERS, user)], [Insert(PATS, pat)]]
        return Machine(Client(user.id, secret), token)
