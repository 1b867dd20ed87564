"""Error codes about the streams of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "events.cursor_too_old": CatalogueEntry(
        400,
        "Events after the cursor were removed, because their retention period has ended.",
        "Continue with the cursor `oldest` of the answer; the events between were removed."
        " Read more often, or extend the retention with the settings audit_change_days,"
        " audit_access_days and audit_failure_days.",
    ),
    "events.cursor_unknown": CatalogueEntry(
        400,
        "The cursor was altered, belongs to other streams or to another installation, or is beyond"
        " the last event, as after the restore of a backup.",
        "Send the cursor of an event that was received, or begin with oldest or latest.",
    ),
    "events.stream_unknown": CatalogueEntry(
        400,
        "There is no stream of this name.",
        "Use change, access or failure, several separated by commas.",
    ),
    "events.type_unknown": CatalogueEntry(
        400,
        "There is no type of event of this name.",
        "Use names from POST /admin/v1/events/types/_search, or all of an object, such as"
        " user.*, separated by commas.",
    ),
}
