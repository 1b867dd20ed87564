"""Decides which projects a call may deactivate, reactivate or delete, with all applications in
them."""

from __future__ import annotations

from idp.foundation.errors import PermissionDenied
from idp.management.call import Call
from idp.management.projects import management_access, projects
from idp.records import Project
from idp.service import Service


async def find(service: Service, call: Call, project_id: str) -> Project:
    """Returns a project if the call may deactivate, reactivate or delete it: the caller must have
    the permission to do so with each of its applications.

    Raises NotFound, PermissionDenied.
    """
    project = await projects.find(service, call, project_id)
    if not call.rights.allow("project.app.write", project.org_id):
        message = "the permission project.app.write is missing"
        raise PermissionDenied(message, error_code="project.protected")
    await management_access.check(service, call, project)
    return project
