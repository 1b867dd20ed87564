"""Hashing and verification of passwords, in threads: it is slow by design and must not block the
loop.

The libraries release the interpreter lock, so one thread per core is the useful maximum. The
threads and their queue: `idp.passwords.hashing_threads`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Final, NamedTuple, TypeVar

from idp.config.settings import Config
from idp.foundation import cpu, logs, metrics, tracing
from idp.foundation.randomness import Random, SystemRandom
from idp.passwords import schemes
from idp.passwords.hashing_threads import HashingBusy, HashingThreads, WorkCost
from idp.passwords.policy import PasswordRefused, compared_forms, normalised, one_time_form
from idp.passwords.schemes import ParsedHash, UnreadableHash

T = TypeVar("T")

_MAX_SAMPLES: Final = 64
_SAME: Final = 1.25  # how much longer than the own recipe a hash takes that is not more expensive

log = logs.logger(__name__)


class Verdict(NamedTuple):
    """The result of a verification: whether the password is right, and whether its hash is
    outdated and should be replaced.

    Replace it by compare-and-set on the old hash, so that a concurrent change of the password
    prevails; a failure to replace it must not fail the sign-in.
    """

    ok: bool
    needs_rehash: bool


class Hasher:
    """Hashes passwords as the settings require, and verifies every format of `schemes.SCHEMES`."""

    def __init__(self, config: Config, random: Random | None = None) -> None:
        self._recipe = schemes.RECIPES[config.password_hasher]
        self._random = random or SystemRandom()
        self._decoy = schemes.read(self._recipe.decoy(self._random))
        threads = config.hashing_threads or max(1, cpu.count() // config.processes)
        self._threads = HashingThreads(threads, config.hashing_queue, self._random)
        self._recent_seconds: deque[float] = deque(
            maxlen=_MAX_SAMPLES
        )  # seconds that current hashes took

    @property
    def max_bytes(self) -> int | None:
        """The length in bytes of the longest password that can be hashed; None if only characters
        are limited.
        """
        return self._recipe.max_bytes

    async def hash(self, password: str) -> str:
        """Returns the encoded hash to store. Raises PasswordRefused, HashingBusy."""
        data = normalised(password).encode()
        if self.max_bytes is not None and len(data) > self.max_bytes:
            raise PasswordRefused(
                f"the password takes more than {self.max_bytes} bytes, where bcrypt ends",
                error_code="password.too_many_bytes",
            )
        encoded, _ = await self._run(lambda: self._recipe.hash(data, self._random), self._decoy)
        return encoded

    async def verify(self, password: str, encoded: str) -> Verdict:
        """Returns whether the password belongs to the stored hash `encoded`, and whether that is
        outdated. Raises HashingBusy.

        A hash that can't be read, or would cost too much, is treated as a wrong password, and
        logged.
        """
        try:
            stored = schemes.read(encoded)
        except UnreadableHash as error:
            log.error("stored password hash refused", reason=error.message)
            return await self.verify_decoy(password)
        return await self._verify(password, stored)

    async def verify_decoy(self, password: str) -> Verdict:
        """Takes as long as the verification of a wrong password and returns the same result; it is
        called for a sign-in whose user has no password or does not exist."""
        await self._verify(password, self._decoy)
        return Verdict(ok=False, needs_rehash=False)

    async def compute(self, work: Callable[[], T]) -> T:
        """Calls `work`, slow work on a password that is not hashing, in the threads of this
        object, and returns its result. Raises HashingBusy."""
        return await self._threads.run(work)

    def close(self) -> None:
        """Drops the waiting work, and waits for the work in progress."""
        self._threads.close()

    async def _verify(self, password: str, stored: ParsedHash) -> Verdict:
        try:
            forms = [each.encode() for each in compared_forms(password)]
        except PasswordRefused:  # no account can have it, so a fast answer reveals nothing
            return Verdict(ok=False, needs_rehash=False)
        is_current = (stored.scheme, stored.cost) == (self._recipe.scheme, self._recipe.cost)
        for form in forms:
            if await self._matches(form, stored, is_current):
                is_one_time = form != forms[0] and form.decode() == one_time_form(password)
                is_outdated = not is_one_time and (not is_current or form != forms[0])
                can_rehash = self.max_bytes is None or len(forms[0]) <= self.max_bytes
                return Verdict(ok=True, needs_rehash=is_outdated and can_rehash)
        return Verdict(ok=False, needs_rehash=False)

    async def _matches(self, form: bytes, stored: ParsedHash, is_current: bool) -> bool:
        ok, seconds = await self._run(lambda: stored.verify(form), stored)
        await self._equalise_time(seconds, is_current)
        return ok

    async def _equalise_time(self, seconds: float, is_current: bool) -> None:
        """Delays the answer for a cheap old hash until a current one would be done, so that timing
        does not reveal that the account exists.

        The time is drawn from those of recent hashes: on a busy machine they vary widely, so a
        fixed mean could be recognised.
        """
        if is_current:
            self._recent_seconds.append(seconds)
        elif self._recent_seconds:
            sample_index = self._random.token_bytes(1)[0] % len(self._recent_seconds)
            await asyncio.sleep(max(0.0, self._recent_seconds[sample_index] - seconds))
        else:  # no time was measured yet
            with suppress(HashingBusy):
                decoy = await self._threads.run(lambda: _timed(lambda: self._decoy.verify(b"")))
                self._recent_seconds.append(decoy[1])

    def check_capacity(self) -> None:
        """Raises HashingBusy if a hash would raise it now, so that a caller can refuse a request
        before any other work.
        """
        self._threads.check_capacity(self._cost(self._decoy))

    def is_expensive(self, encoded: str) -> bool:
        """Returns whether a stored hash is more expensive than one by the service's own recipe."""
        try:
            return self._cost(schemes.read(encoded)).is_expensive
        except UnreadableHash:
            return False

    def seconds_if_expensive(self, encoded: str) -> float:
        """Returns the seconds that one verification of this hash is estimated to take, if it is
        more expensive than one by the service's own recipe; otherwise 0."""
        cost = self._cost(schemes.read(encoded))
        return cost.seconds if cost.is_expensive else 0.0

    def _cost(self, hashed: ParsedHash) -> WorkCost:
        is_expensive = hashed.seconds > _SAME * self._decoy.seconds
        return WorkCost(hashed.seconds, is_expensive)

    async def _run(self, work: Callable[[], T], like: ParsedHash) -> tuple[T, float]:
        """Runs `work`, which computes a hash that costs as much as `like`, when its turn comes;
        returns its result and the seconds that it took."""
        began, scheme = perf_counter(), like.scheme
        with tracing.internal("hash", {"idp.hash.scheme": scheme}) as span:
            result, seconds = await self._threads.run(lambda: _timed(work), self._cost(like))
            waited = perf_counter() - began - seconds
            span.set("idp.hash.waited_seconds", max(0.0, waited))
        metrics.HASHING.observe(seconds, scheme)
        return result, seconds


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """Returns the result of `work` and the seconds that it took."""
    started = perf_counter()
    result = work()
    return result, perf_counter() - started
