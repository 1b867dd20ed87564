"""The policy for attempts from one network, as a table: who is slowed down, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from idp.config.settings import Config
from idp.limits import network_failures
from idp.limits.network_failures import Network
from idp.limits.origin import AttemptOrigin
from idp.records import NetworkFailures

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NETWORK = Network("192.0.2.1", 1, 100)


def failures(accounts, delayed_until=None):
    until = None if delayed_until is None else NOW + timedelta(seconds=delayed_until)
    ends_at = NOW + timedelta(hours=1)
    return NetworkFailures(
        id=NETWORK.key, accounts=accounts, expires_at=ends_at, delayed_until=until
    )


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stored", "is_slowed", "is_delayed"),
    [
        (None, False, False),
        (failures(99, 1), False, False),
        (failures(100), True, False),
        (failures(100, 1), True, True),
        (failures(100, 0), True, False),
    ],
)
def test_an_attempt_waits_where_many_accounts_failed(stored, is_slowed, is_delayed):
    assert network_failures.is_slowed(stored, NETWORK) == is_slowed
    assert network_failures.is_delayed(stored, NETWORK, NOW) == is_delayed


def test_an_account_is_counted_and_counted_no_longer():
    first = network_failures.with_account(None, NETWORK, NOW)
    second = network_failures.with_account(first, NETWORK, NOW + timedelta(minutes=9))

    assert first == failures(1)
    assert second == failures(2)
    assert network_failures.without_account(first) == failures(0)
    assert network_failures.without_account(failures(0)) == failures(0)


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (AttemptOrigin("192.0.2.1"), [NETWORK]),
        (AttemptOrigin("192.0.2.1", is_shared=True), [Network("192.0.2.1", 50, 5000)]),
        (
            AttemptOrigin("2001:db8:1:2::3"),
            [Network("2001:db8:1:2::/64", 1, 100), Network("2001:db8:1::/48", 4, 400)],
        ),
        (AttemptOrigin("203.0.113.7"), []),
    ],
)
def test_a_network_counts_for_its_address_and_for_the_site(origin, expected):
    config = Config(known_networks=("203.0.113.0/28",))

    assert network_failures.networks_of(config, origin) == expected
