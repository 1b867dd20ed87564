"""Projects that a call may deactivate, reactivate or remove: with all applications inside."""

from __future__ import annotations

from idp import listing
from idp.access import Call
from idp.clients import projects
from idp.errors import PermissionDenied
from idp.records import APPLICATIONS, Project
from idp.service import Service


async def find(service: Service, call: Call, project_id: str) -> Project:
    """A project that the call reaches, whose applications the caller could end one by one.

    An application with management access has the power of everybody who signs in to it, so it is
    for owners of the installation alone. Raises NotFound, PermissionDenied.
    """
    project = await projects.find(service, call, project_id)
    if not call.rights.allow("project.app.write", project.org_id):
        told = "the permission project.app.write is missing"
        raise PermissionDenied(told, slug="project.protected")
    if "iam.write" not in call.rights.everywhere and await _has_management(service, project):
        told = "an application in the project has managementAccess"
        raise PermissionDenied(told, slug="project.protected")
    return project


async def _has_management(service: Service, project: Project) -> bool:
    inside = listing.walk(service.store, APPLICATIONS, {"project_id": project.id}, order="name")
    async for client in inside:
        if client.has_management_access:
            return True
    return False
