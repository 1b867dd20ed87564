"""Values that hold secrets in the clear don't print them."""

from __future__ import annotations

import msgspec
import pytest

from idp.identity.sessions.browsers import Cookie
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.grants.token_exchange import ExchangeTokens
from idp.oauth.grants.token_request import RefreshToken
from idp.start.announcement import Start
from idp.start.demo import DemoClient, DemoExchange, DemoVisitState
from idp.start.demo_setup import DemoDescription
from idp.start.first_start import Admin

SECRET = "Kx7f-9QmD-p2Rw-T3zs"


@pytest.mark.parametrize(
    "kind",
    [
        Admin,
        Cookie,
        DemoClient,
        DemoDescription,
        RefreshToken,
        AuthorizationResponse,
        ExchangeTokens,
        Start,
        DemoExchange,
        DemoVisitState,
    ],
)
def test_what_holds_a_secret_prints_nothing_of_it(kind):
    value = kind(**{field.name: SECRET for field in msgspec.structs.fields(kind)})

    assert SECRET not in f"{value} {value!r} {[value]} {ValueError(value)!r}"
    assert repr(value) == f"{kind.__name__}(…)"


def test_it_can_be_encoded_all_the_same():
    admin = Admin(login_name="admin@localhost", password=SECRET)

    assert msgspec.json.decode(msgspec.json.encode(admin), type=Admin) == admin
