"""The `Service` value that functions receive: store, settings, clock, randomness and keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from idp.config.settings import Config
from idp.foundation.background_tasks import BackgroundTasks
from idp.foundation.clock import Clock, SystemTimer, Timer
from idp.foundation.randomness import Random
from idp.foundation.ttl_cache import TtlCache
from idp.keys.key_ring import KeyRing
from idp.keys.master_key import MasterKey
from idp.keys.published import LastPublished
from idp.limits.comparisons import Comparisons
from idp.limits.held_refusals import HeldRefusals
from idp.limits.recent_failures import Failures
from idp.limits.refused_counts import RefusedCounts
from idp.limits.refused_tokens import RefusedTokens
from idp.limits.request_counts import RequestCounts
from idp.limits.token_bucket import ClientTokenBucket, TokenBuckets
from idp.limits.untrusted_proxies import UntrustedProxies
from idp.limits.waiting_readers import WaitingReaders
from idp.outgoing.documents import FetchedDocuments
from idp.outgoing.http import Outgoing
from idp.passwords.breached import BreachedPasswords
from idp.passwords.hashing import Hasher
from storage import Store


@dataclass(frozen=True)
class Service:
    """The settings, the store and the other dependencies of functions: one value per process.
    It holds no state that another process needs and could not read from the store."""

    config: Config
    store: Store
    clock: Clock
    random: Random
    master_key: MasterKey
    hasher: Hasher
    keys: KeyRing
    refusal_rate: ClientTokenBucket = field(
        default_factory=lambda: ClientTokenBucket(
            burst=60, per_second=0.1, all_burst=600, all_per_second=0.5
        )
    )
    held_refusals: HeldRefusals[Any] = field(default_factory=HeldRefusals)
    # Authorization requests of browsers in which no user has signed in, by network.
    authorization_rate: TokenBuckets = field(
        default_factory=lambda: TokenBuckets(burst=200, per_second=20)
    )
    timer: Timer = field(default_factory=SystemTimer)
    refused_tokens: RefusedTokens = field(default_factory=RefusedTokens)
    comparisons: Comparisons = field(default_factory=Comparisons)
    untrusted_proxies: UntrustedProxies = field(default_factory=UntrustedProxies)
    request_counts: RequestCounts = field(default_factory=RequestCounts)
    background_tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
    outgoing: Outgoing = field(default_factory=Outgoing)
    documents: FetchedDocuments = field(default_factory=FetchedDocuments)
    settings_cache: TtlCache = field(default_factory=TtlCache)
    discovery: LastPublished = field(default_factory=LastPublished)
    # Notifies another process that a job is queued.
    wake_importer: Callable[[], None] | None = None
    refused: RefusedCounts = field(default_factory=RefusedCounts)
    failures: Failures = field(default_factory=Failures)
    waiting_readers: WaitingReaders = field(default_factory=WaitingReaders)
    breached_passwords: BreachedPasswords | None = None
    # When tokens, keys and secrets were last used, by their ids.
    last_uses: dict[str, datetime] = field(default_factory=dict)
    # Counts of sign-ins and the like that are not in the store yet, by the store's keys.
    usage: Counter[str] = field(default_factory=Counter)
    # Users who signed in on a day, by id, with their organization and the latest time, not stored.
    active_users: dict[tuple[str, date], tuple[str, datetime]] = field(default_factory=dict)
