"""The filters of the console's list of users, in its address."""

from __future__ import annotations

from typing import Final

from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.foundation.i18n import message

_FOUND_BY: Final = {
    "displayName": message("Name", context="console"),
    "lastName": message("Family name", context="users"),
    "emailAddress": message("Email", context="users"),
    "userName": message("Username", context="users"),
}
_QUERIES: Final = {
    "displayName": "displayNameQuery",
    "lastName": "lastNameQuery",
    "emailAddress": "emailQuery",
    "userName": "userNameQuery",
}
_STATES: Final = (
    ("", message("any", context="console")),
    ("USER_STATE_ACTIVE", message("active", context="console")),
    ("USER_STATE_INACTIVE", message("deactivated", context="console")),
    ("USER_STATE_LOCKED", message("locked", context="console")),
)
FIELDS: Final = (
    FormField(
        path="text", label=message("Begins with", context="users"), related_paths=("queries",)
    ),
    FormField(
        path="by",
        label=message("Search in", context="users"),
        kind="choice",
        options=tuple(_FOUND_BY.items()),
        default="displayName",
    ),
    FormField(
        path="state",
        label=message("State", context="console"),
        kind="choice",
        options=_STATES,
        default="",
    ),
)


def queries(values: Values) -> list[Document]:
    """Returns the queries of a search for people with these values of the filters."""
    found: list[Document] = [{"typeQuery": {"type": "TYPE_HUMAN"}}]
    if values["text"]:
        by = values["by"] if values["by"] in _QUERIES else "displayName"
        how = {"method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
        found.append({_QUERIES[by]: {by: values["text"], **how}})
    if values["state"]:
        found.append({"stateQuery": {"state": values["state"]}})
    return found
