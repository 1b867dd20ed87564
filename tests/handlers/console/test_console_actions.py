"""The console's pages as data: each runs an operation that there is, and names a command, too."""

import click
import pytest

from handlers.app import ROUTES
from handlers.console import ROUTES as PAGES
from handlers.console import notices
from idp.api import OPERATIONS
from idp.cli import main

ACTIONS = {
    more[0]["action"].path: more[0]["action"]
    for _, _, *more in PAGES
    if more and "action" in more[0]
}


@pytest.mark.parametrize("path", ACTIONS)
def test_an_action_runs_an_operation_with_what_its_address_names(path):
    action = ACTIONS[path]
    named = set(part[1:-1] for part in path.split("/") if part.startswith("{"))

    assert action.operation in OPERATIONS
    assert action.loads is None or action.loads in OPERATIONS
    assert action.confirmation in notices.CONFIRMATIONS
    assert not action.confirms or action.name
    for operation in filter(None, (action.operation, action.loads)):
        # These are fields of forms.
        assert set(operation.parameters) - named <= {"key", "projectId"}, operation.name


def test_the_name_is_typed_to_delete_one_of_five_kinds_and_for_nothing_else():
    asking = {path for path, action in ACTIONS.items() if action.confirms}

    assert asking == {
        "/organizations/{orgId}/delete",
        "/projects/{projectId}/delete",
        "/projects/{projectId}/applications/{appId}/delete",
        "/users/{userId}/delete",
        "/service-users/{userId}/delete",
        "/keys/{keyId}/remove",
    }


@pytest.mark.parametrize("path", ACTIONS)
def test_the_command_line_has_the_command_that_a_page_shows(path):
    words = ACTIONS[path].command.split()
    command, context = main, click.Context(main)

    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(context, word)
        assert command is not None, ACTIONS[path].command
    if words:
        options = {name for param in command.params for name in param.opts}
        shown = {word for word in words if word.startswith("--")}
        assert shown | {"--org"} <= options, words


def test_every_page_of_the_console_is_served():
    assert {path for path, *_ in PAGES} <= {path for path, *_ in ROUTES}
