"""Debug mode: for a limited time, the explain page shows the details of an application's errors.

On a loopback issuer it always does. Elsewhere the page is public, so the developers of an
application switch the mode on, and it ends after a time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from idp import changes
from idp.changes import Change
from idp.management.call import Call
from idp.management.projects import apps, oidc_apps
from idp.records import APPLICATIONS
from idp.schema.answers import Answer, Details
from idp.schema.field_rules import Duration
from idp.schema.reading import Request
from idp.service import Service

DEFAULT_DURATION: Final = timedelta(hours=1)
MAX_DURATION: Final = timedelta(hours=24)


class DebugMode(Request, frozen=True, kw_only=True):
    """`duration` is how long debug mode lasts from now on; 0s ends it."""

    duration: Annotated[timedelta, Duration(max=MAX_DURATION)] = DEFAULT_DURATION


class DebugModeSet(Answer, frozen=True, kw_only=True):
    """`explains_until` is present while debug mode is on."""

    details: Details
    explains_until: datetime | None = None


async def switch(
    service: Service, call: Call, project_id: str, app_id: str, request: DebugMode
) -> Change[DebugModeSet]:
    """Switches on debug mode for the requested duration, an hour by default, or ends it.

    Raises NotFound, PermissionDenied, FailedPrecondition (it is an API application).
    """
    ends_at = service.clock.now() + request.duration if request.duration else None

    client = await apps.find_to_change(service, call, project_id, app_id)
    oidc_apps.check_kind(client)
    event = "application.debug_mode_set" if ends_at else "application.debug_mode_ended"
    update = changes.updated(
        service, call, APPLICATIONS, client, {"explains_until": ends_at}, event
    )
    return update.answered(DebugModeSet(details=update.details, explains_until=ends_at))
