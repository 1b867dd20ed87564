"""Checks of applications that are more open, or use an older protocol, than necessary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from idp.doctor import commands
from idp.doctor.check import DoctorCheck, Finding, Installation
from idp.doctor.records import Matches, matching
from idp.foundation.i18n import message
from idp.oauth.refusals import command_lines
from idp.records import APPLICATIONS, INSTANCE_ID, INSTANCES, PROJECTS, Application


async def open_to_everybody(installation: Installation) -> Finding:
    """Reports active applications that every user of the installation can sign in to."""
    matches = await _active_applications(
        installation, lambda each: each.allowed_users == "everybody"
    )
    # A check of the project excludes users without a grant or a role, regardless of the settings
    # of its applications.
    project_ids = {each.project_id for each in matches.records}
    projects = await installation.opened.get_many(
        [(PROJECTS, project_id) for project_id in project_ids]
    )
    restricted = {
        each.id for each in projects if each and (each.requires_grant or each.requires_role)
    }
    remaining = [each for each in matches.records if each.project_id not in restricted]
    matches.count -= len(matches.records) - len(remaining)
    matches.records = remaining
    return _finding(matches, "are open to everybody", "--allowed-users own-organization")


async def pkce(installation: Installation) -> Finding:
    """Reports active applications that may omit PKCE."""

    def may_omit(client: Application) -> bool:
        uses_code = "authorization_code" in client.grant_types
        return uses_code and client.auth_method != "none" and not client.requires_pkce

    return _finding(
        await _active_applications(installation, may_omit), "may omit PKCE", "--require-pkce"
    )


async def implicit(installation: Installation) -> Finding:
    """Reports active applications that use the implicit flow, which returns tokens in the address
    of a page.
    """

    def is_implicit(client: Application) -> bool:
        return "implicit" in client.grant_types or client.response_types != ["code"]

    matches = await _active_applications(installation, is_implicit)
    return matches.finding(
        "applications",
        "use the implicit flow",
        [each.name for each in matches.named],
        [command_lines.configure(each, _without_implicit(each)) for each in matches.named],
    )


def _without_implicit(client: Application) -> str:
    other_grant_types = [each for each in client.grant_types if each != "implicit"]
    grants = dict.fromkeys(["authorization_code", *other_grant_types])
    options = [f"--grant-type {each.rpartition(':')[2].replace('_', '-')}" for each in grants]
    return " ".join(["--response-type code", *options])


async def debug(installation: Installation) -> Finding:
    """Reports active applications whose error details are public, or that may use plain http."""
    now = installation.clock.now()

    def explains(client: Application) -> bool:
        return client.explains_until is not None and client.explains_until > now

    matches = await _active_applications(
        installation, lambda each: each.is_dev_mode or explains(each)
    )
    lines = [
        command_lines.configure(each, "--no-dev-mode")
        if each.is_dev_mode
        else commands.no_debug(each)
        for each in matches.named
    ]
    names = [each.name for each in matches.named]
    return matches.finding("applications", "are in debug or development mode", names, lines)


async def _active_applications(
    installation: Installation, is_match: Callable[[Application], bool]
) -> Matches[Application]:
    """Returns the active applications with sign-ins for which `is_match` holds.

    The demo application of a loopback issuer is left out.
    """
    instance = await installation.opened.get(INSTANCES, INSTANCE_ID)
    is_local = installation.config.is_loopback
    demo = instance.demo.client_id if instance and instance.demo and is_local else None

    def is_relevant(client: Application) -> bool:
        is_used = client.state == "active" and client.app_type != "api" and client.id != demo
        return is_used and is_match(client)

    return await matching(installation, APPLICATIONS, is_relevant)


def _finding(matches: Matches[Application], problem: str, options: str) -> Finding:
    return matches.finding(
        "applications",
        problem,
        [each.name for each in matches.named],
        [command_lines.configure(each, options) for each in matches.named],
    )


CHECKS: Final = (
    DoctorCheck(
        id="applications.open",
        area="safety",
        about=message("No application is open to everyone.", context="safety"),
        fix=message(
            "Limit the application to users of its own organization, unless "
            "it is meant for everyone.",
            context="safety",
        ),
        run=open_to_everybody,
        needs="records",
    ),
    DoctorCheck(
        id="applications.pkce",
        area="safety",
        about=message("Every application must use PKCE.", context="safety"),
        fix=message(
            "Require PKCE for each application whose library supports it.", context="safety"
        ),
        run=pkce,
        needs="records",
    ),
    DoctorCheck(
        id="applications.implicit",
        area="safety",
        about=message("No application uses the implicit flow.", context="safety"),
        fix=message("Move the application to the code flow with PKCE.", context="safety"),
        run=implicit,
        needs="records",
    ),
    DoctorCheck(
        id="applications.debug",
        area="safety",
        about=message("No application is in debug or development mode.", context="safety"),
        fix=message("Switch both off when you have finished testing.", context="safety"),
        run=debug,
        needs="records",
    ),
)
