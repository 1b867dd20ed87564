"""/management/v1: what belongs to one organization."""

from __future__ import annotations

from handlers.management import applications, members, projects, service_users, user_records

ROUTES = [
    *projects.ROUTES,
    *applications.ROUTES,
    *service_users.ROUTES,
    *user_records.ROUTES,
    *members.ROUTES,
]
