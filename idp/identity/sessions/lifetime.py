"""Sessions: a user is signed in at a browser.

A session signs its user in while it is used (idle timeout) and for a limited time after the last
authentication (absolute timeout); its record is stored longer, because tokens name it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.config.settings import Config
from idp.foundation.randomness import Random
from idp.identity import authentication_context
from idp.identity.sessions import browsers, known_browsers, security_stamps
from idp.identity.sessions import clients as session_clients
from idp.identity.users import subjects
from idp.identity.users.subjects import Subject
from idp.policies import page_settings
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    SESSIONS,
    USERS,
    Browser,
    LoginRules,
    Session,
)
from idp.service import Service
from storage import Key, Stale, Update, Where, Write

_PAGE: Final = 50
_TOUCH_EVERY: Final = timedelta(minutes=1)
PASSWORD: Final = (authentication_context.AMR_PASSWORD,)  # the methods of a sign-in by password


class LiveSession(Struct, frozen=True):
    """A session that can sign its user in now, with the login policy of the user's
    organization."""

    session: Session
    subject: Subject
    login: LoginRules

    @property
    def check_seconds(self) -> int:
        """For how many seconds after it was entered the password need not be entered again; if
        the user signed in by a passkey alone, or at another provider, that need not be repeated.
        """
        amr, rules = self.session.amr, self.login
        if authentication_context.AMR_PASSWORD in amr:
            return rules.password_check_seconds
        if authentication_context.AMR_FEDERATED in amr:
            return rules.external_login_check_seconds
        return rules.multi_factor_check_seconds

    def reached(self, now: datetime) -> str:
        """Returns the authentication context class (`acr`) of the session at `now`: that of a
        password once the second factor has expired."""
        session = self.session
        if not self._first_factors or session.factor_at is None:
            return session.acr
        seconds = self.login.second_factor_check_seconds
        if session.acr == authentication_context.PASSKEY:
            seconds = self.login.multi_factor_check_seconds
        is_fresh = now < session.factor_at + timedelta(seconds=seconds)
        return session.acr if is_fresh else authentication_context.PASSWORD

    def methods(self, now: datetime) -> tuple[str, ...]:
        """Returns the methods of the session's authentication that are still valid at `now`: the
        first factor alone once the second one has expired."""
        methods = authentication_context.methods_of(self.session.amr, self.session.acr)
        is_complete = self.reached(now) == self.session.acr
        return tuple(methods) if is_complete else self._first_factors

    @property
    def _first_factors(self) -> tuple[str, ...]:
        first_factors = authentication_context.FIRST_FACTORS
        return tuple(each for each in self.session.amr if each in first_factors)

    async def keep_valid_writes(self, service: Service, after: Subject) -> list[Write]:
        """Returns the writes for a unit that gives the user a new security stamp, by which this
        session remains valid, and its browser known to the account.

        `after` is the subject with the new stamp.
        """
        stamps = security_stamps.of_session(after.instance, after.organization, after.user)
        now, actor = service.clock.now(), after.user.id
        changes = {"stamps": stamps}
        renewed = events.update(
            service.random,
            SESSIONS,
            self.session,
            changes,
            AuditEntry("session.renewed", actor, now),
        )
        browser_id, before = self.session.agent_id, self.subject.user
        known_user_writes = await known_browsers.keep_known_writes(
            service, browser_id, before, after.user
        )
        return [*renewed, *known_user_writes]


async def find_live(service: Service, browser: Browser | None) -> list[LiveSession]:
    """Returns the browser's live sessions, the last used first, one for each user; empty without a
    browser."""
    return await live_among(service, await find_open(service, browser) if browser else [])


async def live_among(service: Service, sessions: list[Session]) -> list[LiveSession]:
    """Returns those of a browser's open sessions that can sign in their users now, the last used
    first, one for each user."""
    now = service.clock.now()
    usable = [session for session in sessions if _can_sign_in(service.config, session, now)]
    usable.sort(key=lambda session: session.last_used_at, reverse=True)
    # Sessions that a new security stamp has ended are left out before.
    latest: dict[str, LiveSession] = {}
    for live_session in await _with_subjects(service, usable):
        latest.setdefault(live_session.session.user_id, live_session)
    return list(latest.values())


async def find_open(service: Service, browser: Browser) -> list[Session]:
    """Returns the browser's sessions that have not ended, also those too old to sign in."""
    return await find_open_in(service, browser.id) if browsers.is_stored(browser) else []


async def find_open_in(service: Service, browser_id: str) -> list[Session]:
    """Returns the sessions that have not ended in the browser with this id, also those too old to
    sign in."""
    return await _find_all(service, {"agent_id": browser_id, "ended_at": None})


async def _find_all(service: Service, where: Where) -> list[Session]:
    page = await service.store.find(SESSIONS, where, limit=_PAGE)
    sessions = page.records
    while page.after is not None:  # a browser with very many users
        page = await service.store.find(SESSIONS, where, limit=_PAGE, after=page.after)
        sessions += page.records
    return sessions


async def end_writes(service: Service, session: Session) -> list[Write]:
    """Returns the writes that end a session and every token that names it, and that queue logout
    tokens for its applications; the caller commits them.

    They fail with Stale if the session has ended or was renewed.
    """
    messages = await session_clients.messages(service, session, service.clock.now())
    return [*end_writes_without_messages(service, session), *messages]


def end_writes_without_messages(service: Service, session: Session) -> list[Write]:
    """Returns the writes that end a session and every token that names it, without logout tokens
    for its applications; the caller commits them.

    They fail with Stale if the session has ended or was renewed.
    """
    now = service.clock.now()
    end = Update(
        SESSIONS,
        session.id,
        set={"ended_at": now},
        increment={"sequence": 1},
        expect={"ended_at": None, "sequence": session.sequence},
    )
    actor = session.user_id
    return [
        end,
        events.changed(service.random, SESSIONS, session, AuditEntry("session.ended", actor, now)),
    ]


async def logout_messages_of_all(service: Service, subject: Subject) -> list[Write]:
    """Returns the writes that queue logout tokens for the applications of all sessions of the
    user. They belong to a unit that ends these sessions by a new security stamp."""
    now, messages = service.clock.now(), list[Write]()
    stamps = security_stamps.of_session(subject.instance, subject.organization, subject.user)
    for session in await _find_all(service, {"user_id": subject.user.id}):
        if session.ended_at is None and session.stamps == stamps:
            messages += await session_clients.messages(service, session, now)
    return messages


def is_over(config: Config, session: Session, now: datetime) -> bool:
    """Returns whether the absolute timeout has passed: the session allows no sign-in and no new
    token."""
    return now >= session.auth_time + timedelta(seconds=config.session_seconds)


def has_ended(config: Config, session: Session, subject: Subject, now: datetime) -> bool:
    """Returns whether a session of this user has ended: it was ended, the absolute timeout has
    passed, or a security stamp has changed."""
    stamps = security_stamps.of_session(subject.instance, subject.organization, subject.user)
    is_ended = session.ended_at is not None or is_over(config, session, now)
    return is_ended or session.stamps != stamps


def _can_sign_in(config: Config, session: Session, now: datetime) -> bool:
    idle_ends_at = session.last_used_at + timedelta(seconds=config.session_idle_seconds)
    return now < idle_ends_at and not is_over(config, session, now)


async def _with_subjects(service: Service, sessions: list[Session]) -> list[LiveSession]:
    keys: list[Key] = [(INSTANCES, INSTANCE_ID)]
    for session in sessions:
        keys += [(USERS, session.user_id), (ORGANIZATIONS, session.org_id)]
    instance, *pairs = await service.store.get_many(keys) if sessions else (None,)
    live_sessions = []
    for session, user, organization in zip(sessions, pairs[::2], pairs[1::2], strict=True):
        if instance is None or user is None or organization is None:
            continue
        subject = Subject(instance=instance, organization=organization, user=user)
        stamps = security_stamps.of_session(instance, organization, user)
        if subjects.is_active(subject) and session.stamps == stamps:
            login = (await page_settings.find(service, subject.organization.id)).login
            live_sessions.append(LiveSession(session, subject, login))
    return live_sessions


def new(
    random: Random,
    config: Config,
    browser: Browser,
    subject: Subject,
    now: datetime,
    methods: Sequence[str] = PASSWORD,
    auth_time: datetime | None = None,
    factor_at: datetime | None = None,
    connection_id: str | None = None,
) -> Session:
    """Returns a new session, which is not stored yet, for an authentication by `methods` (values
    of `amr`) at `now`; `connection_id` is the connection by whose provider it was, if any.

    An earlier `auth_time` means that only the second factor is new; an earlier `factor_at` that
    the second factor was used then, and only the password now.
    """
    reached, auth_time = authentication_context.acr_of(methods), auth_time or now
    return Session(
        id=random.id(),
        agent_id=browser.id,
        user_id=subject.user.id,
        org_id=subject.organization.id,
        stamps=security_stamps.of_session(subject.instance, subject.organization, subject.user),
        auth_time=auth_time,
        amr=authentication_context.amr(methods),
        acr=reached,
        created_at=now,
        last_used_at=now,
        expires_at=record_ends_at(config, auth_time),
        factor_at=(factor_at or now)
        if authentication_context.meets(reached, authentication_context.TWO_FACTORS)
        else None,
        connection_id=connection_id,
    )


def record_ends_at(config: Config, auth_time: datetime) -> datetime:
    """Returns when the last token of a session that was authenticated at `auth_time` has expired;
    its record is stored until then."""
    max_token_seconds = max(config.access_token_seconds, config.jwt_access_token_seconds)
    return auth_time + timedelta(seconds=config.session_seconds + max_token_seconds)


async def touch(service: Service, session: Session) -> None:
    """Records that the session was used; at most one write a minute."""
    now = service.clock.now()
    if now - session.last_used_at < _TOUCH_EVERY:
        return
    used = Update(SESSIONS, session.id, set={"last_used_at": now}, expect={"ended_at": None})
    try:
        await service.store.commit(used)
    except Stale:
        return  # it ended meanwhile: there is nothing to record


def is_recent(session: Session, seconds: int, now: datetime) -> bool:
    """Returns whether the user was authenticated within the last `seconds`."""
    return int(now.timestamp()) - int(session.auth_time.timestamp()) <= seconds
