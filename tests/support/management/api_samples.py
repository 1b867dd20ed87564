"""The management API's calls, their addresses, and bodies with all their members."""

from __future__ import annotations

from urllib.parse import urlencode

from idp.api import OPERATIONS
from idp.api.operation import Operation
from idp.schema.reading import Nothing, declared
from tests.support.samples import BODIES
from tests.support.samples.applications import FULL_APP, FULL_SETTINGS, PUBLIC_KEY
from tests.support.samples.users import FULL_HUMAN

SET_UP = "/admin/v1/orgs/_setup"
CREATE_HUMAN = "/v2/users/human"
PROJECTS = "/management/v1/projects"
MACHINES = "/management/v1/users/machine"
MEMBERS = "/management/v1/orgs/me/members"
INSTANCE_MEMBERS = "/admin/v1/members"
FEATURES = "/v2/features/instance"
SECURITY = "/admin/v1/policies/security"
ROTATE_KEYS = "/admin/v1/keys/_rotate"

__all__ = ["FULL_APP", "FULL_HUMAN", "FULL_SETTINGS", "PUBLIC_KEY"]


def called(operation: Operation) -> str:
    """The name of a call in tests."""
    return f"{operation.method} {operation.path}"


CALLS = {called(each): each for each in OPERATIONS}


def bodies(operation: Operation) -> tuple[dict, ...]:
    """Bodies that together name every field; none for a call without one."""
    if operation.request is None:
        return ()
    return BODIES.get(called(operation), ({},))


def address(operation: Operation, **values: str) -> str:
    """The call's address; ids that are not given belong to no record."""
    path = operation.path
    for name in operation.parameters:
        path = path.replace(f"{{{name}}}", values.get(name, "nobody"))
    needed = [each for each in declared(operation.query or Nothing) if each.is_required]
    pairs = {each.wire_name: values.get(each.wire_name, "nobody") for each in needed}
    return f"{path}?{urlencode(pairs)}" if pairs else path


def organization(n: int = 0) -> dict:
    """The smallest body that sets up an organization."""
    return {
        "org": {"name": f"Acme {n}" if n else "Acme"},
        "human": {
            "userName": f"anna-{n}",
            "profile": {"firstName": "Anna", "lastName": "Owner"},
            "email": {"email": f"anna-{n}@acme.test", "isEmailVerified": True},
            "password": "horse staple battery",
        },
    }


def changed(path: str, value: object, n: int = 0) -> dict:
    """The smallest set-up with one member changed."""
    body = organization(n)
    *names, last = path.split(".")
    holder = body
    for name in names:
        holder = holder.setdefault(name, {})
    holder[last] = value
    return body


def filled(value, **values: object):
    """The sample with `values` inserted for the placeholders in its texts."""
    if isinstance(value, dict):
        return {name: filled(each, **values) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, **values) for each in value]
    if isinstance(value, str):
        for name, each in values.items():
            value = value.replace(f"{{{name}}}", str(each))
    return value


def leaves(value, path: str = ""):
    """Yields each scalar of a sample with its JSON path, and empty lists and objects."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for n, each in enumerate(value):
            yield from leaves(each, f"{path}[{n}]")
    else:
        yield path, value
