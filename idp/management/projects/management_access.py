"""Protection of projects with an application that has management access.

Such an application has the rights of every user who signs in to it, so only owners of the
installation decide who may use it and whether it works.
"""

from __future__ import annotations

from idp.foundation.errors import PermissionDenied
from idp.management.call import Call
from idp.records import APPLICATIONS, Project
from idp.search import paging
from idp.service import Service


async def check(service: Service, call: Call, project: Project) -> None:
    """Checks that the call may change who can use the applications of the project.

    Raises PermissionDenied if one of them has management access and the caller is no owner of the
    installation.
    """
    if "iam.write" in call.rights.everywhere:
        return
    applications = paging.walk(
        service.store, APPLICATIONS, {"project_id": project.id}, order="name"
    )
    async for client in applications:
        if client.has_management_access:
            message = "an application in the project has managementAccess"
            raise PermissionDenied(message, error_code="project.protected")
