"""An office, whose people all have one address, signs in at one moment."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.sessions import password_check
from idp.limits.origin import AttemptOrigin

OFFICE = AttemptOrigin("192.0.2.1")


@pytest.mark.parametrize("people", [100, pytest.param(200, marks=pytest.mark.full)])
async def test_nobody_of_an_office_is_refused_while_no_one_else_waits(server, people):
    service, password = server.service, server.user[1]
    names = [(await server.copy_user(f"person{n}@office.example"))[0] for n in range(people)]

    async def sign_in(name):
        checked = await password_check.check_password(service, name, password, OFFICE)
        await password_check.succeeded(service, checked)
        return checked.subject.user.user_name

    assert await asyncio.gather(*map(sign_in, names)) == names
    assert service.comparisons._networks == {}
