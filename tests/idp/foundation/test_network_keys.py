"""The network that a request is counted under."""

import pytest

from idp.foundation.network_keys import network_key, site_key, site_of


@pytest.mark.parametrize(
    ("address", "network", "site"),
    [
        ("192.0.2.7", "192.0.2.7", None),
        ("::ffff:192.0.2.7", "192.0.2.7", None),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/64", "fe80::/48"),
        ("", "", None),
        ("no address", "no address", None),
    ],
)
def test_ipv6_is_counted_by_its_subnet_and_ipv4_by_its_address(address, network, site):
    assert network_key(address) == network
    assert site_key(address) == site
    assert site_of(network) == (site or network)


def test_all_addresses_of_a_subnet_share_a_key_and_neighbours_do_not():
    keys = {network_key(f"2001:db8::{number:x}") for number in range(1, 500)}

    assert keys == {"2001:db8::/64"}
    assert network_key("2001:db8:0:1::1") not in keys
