"""The console: the functions of the management API as HTML pages."""

from __future__ import annotations

from typing import Any, Final

from handlers.console import (
    base,
    domains,
    groups,
    imports,
    members,
    organizations,
    outbox,
    overview,
    project_grants,
    projects,
    safety,
    scheduled_tasks,
    search,
    sessions,
    signing_keys,
)
from handlers.console.applications import application_list
from handlers.console.applications import trials as application_trials
from handlers.console.applications import wizard as application_wizard
from handlers.console.connections import pages as connection_pages
from handlers.console.events import log as event_log
from handlers.console.policies import branding, page_texts, pictures, policy_list, preview
from handlers.console.users import service_users, user_list

ROUTES: Final[list[Any]] = [
    *base.ROUTES,
    *overview.ROUTES,
    *search.ROUTES,
    *organizations.ROUTES,
    *domains.ROUTES,
    *members.ROUTES,
    *user_list.ROUTES,
    *groups.ROUTES,
    *application_wizard.ROUTES,
    *application_trials.ROUTES,
    *application_list.ROUTES,
    *project_grants.ROUTES,
    *projects.ROUTES,
    *service_users.ROUTES,
    *connection_pages.ROUTES,
    *policy_list.ROUTES,
    *branding.ROUTES,
    *pictures.ROUTES,
    *page_texts.ROUTES,
    *preview.ROUTES,
    *safety.ROUTES,
    *signing_keys.ROUTES,
    *event_log.ROUTES,
    *sessions.ROUTES,
    *outbox.ROUTES,
    *scheduled_tasks.ROUTES,
    *imports.ROUTES,
]
