"""The console: what the management API does, on pages for people."""

from __future__ import annotations

from typing import Any, Final

from handlers.console import (
    app_trials,
    app_wizard,
    applications,
    base,
    domains,
    event_log,
    imports,
    jobs,
    members,
    organizations,
    outbox,
    overview,
    page_texts,
    pictures,
    policies,
    preview,
    project_grants,
    projects,
    safety,
    service_users,
    signing_keys,
    users,
)

ROUTES: Final[list[Any]] = [
    *base.ROUTES,
    *overview.ROUTES,
    *organizations.ROUTES,
    *domains.ROUTES,
    *members.ROUTES,
    *users.ROUTES,
    *app_wizard.ROUTES,
    *app_trials.ROUTES,
    *applications.ROUTES,
    *project_grants.ROUTES,
    *projects.ROUTES,
    *service_users.ROUTES,
    *policies.ROUTES,
    *pictures.ROUTES,
    *page_texts.ROUTES,
    *preview.ROUTES,
    *safety.ROUTES,
    *signing_keys.ROUTES,
    *event_log.ROUTES,
    *outbox.ROUTES,
    *jobs.ROUTES,
    *imports.ROUTES,
]
