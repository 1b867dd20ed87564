"""Signing in to the service's own pages: a flow that ends at one of them, and issues no tokens.

It is a sign-in like any other, except for its client, which is not registered.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from idp.limits.origin import AttemptOrigin
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.first_party_areas import OwnPages
from idp.oauth.sign_in.pending import BegunFlow
from idp.records import AuthRequest, Browser
from idp.service import Service


async def begin(
    service: Service,
    area: OwnPages,
    path: str,
    browser: Browser | None,
    origin: AttemptOrigin,
    *,
    prompt: Sequence[str] = (),
    max_age: int | None = None,
    user_id: str | None = None,
    adding: Literal["totp", "passkey"] | None = None,
) -> BegunFlow:
    """Begins a sign-in that ends at `path`, the address of a page of this area.

    `max_age` is the greatest age of the authentication in seconds; with `user_id` no other user
    may sign in; `adding` is a second factor that the user sets up before the flow ends.
    """
    now = service.clock.now()
    request = AuthRequest(
        id=service.random.id(),
        client_id=area.id,
        redirect_uri=service.config.issuer + path,
        response_type="code",
        response_mode="query",
        scopes=[],
        created_at=now,
        expires_at=now + timedelta(seconds=service.config.sign_in_seconds),
        prompt=list(prompt),
        max_age=max_age,
        hinted_user_id=user_id,
        adding=adding,
        is_for_own_page=True,
    )
    return await sign_in_pending.begin(service, request, browser, origin)
