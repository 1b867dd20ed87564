"""Finds the owners of registered keys: applications and service users, if the call may read or
change their keys."""

from __future__ import annotations

from idp.identity.users import lookup as user_lookup
from idp.management.call import Call
from idp.management.projects import apps
from idp.management.projects.registered_keys import KeyOwner
from idp.management.users import service_users
from idp.records import APP_KEYS, USER_KEYS, Application, User
from idp.service import Service


async def application(service: Service, call: Call, project_id: str, app_id: str) -> KeyOwner:
    """Returns an application as the owner of its keys, for a call that reads them. Raises
    NotFound."""
    return _application(await apps.find(service, call, project_id, app_id))


async def own_application(service: Service, call: Call, project_id: str, app_id: str) -> KeyOwner:
    """Returns an application as the owner of its keys, for a call that changes them.

    Raises NotFound; PermissionDenied if the caller may not change the application.
    """
    return _application(await apps.find_to_change(service, call, project_id, app_id))


async def service_user(service: Service, call: Call, user_id: str) -> KeyOwner:
    """Returns a service user as the owner of its keys, for a call that reads them.

    Raises NotFound, FailedPrecondition (the user is a person).
    """
    return _user(await service_users.find(service, call, user_id))


async def own_service_user(service: Service, call: Call, user_id: str) -> KeyOwner:
    """Returns a service user as the owner of its keys, for a call that changes them.

    Raises NotFound; FailedPrecondition (the user is a person); PermissionDenied if the user has a
    right that the caller does not have.
    """
    return _user(await service_users.find_covered(service, call, user_id))


def _application(client: Application) -> KeyOwner:
    return KeyOwner(
        APP_KEYS, client.id, client.org_id, {"appId": client.id, "clientId": client.id}
    )


def _user(user: User) -> KeyOwner:
    # A later user with the same id must not get the key.
    guards = (user_lookup.exists_guard(user),)
    return KeyOwner(USER_KEYS, user.id, user.org_id, {"userId": user.id}, guards)
