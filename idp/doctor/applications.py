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
    """Finds applications that every user of the installation can sign in to."""
    found = await _where(installation, lambda each: each.allowed_users == "everybody")
    # A check of the project excludes users without a grant or a role, whatever its application
    # says.
    projects = {each.project_id for each in found.found}
    read = await installation.opened.get_many([(PROJECTS, id) for id in projects])
    narrowed = {each.id for each in read if each and (each.requires_grant or each.requires_role)}
    kept = [each for each in found.found if each.project_id not in narrowed]
    found.count -= len(found.found) - len(kept)
    found.found = kept
    return _judged(found, "are open to everybody", "--allowed-users own-organization")


async def pkce(installation: Installation) -> Finding:
    """Finds applications that may omit PKCE."""

    def may_omit(client: Application) -> bool:
        uses_code = "authorization_code" in client.grant_types
        return uses_code and client.auth_method != "none" and not client.requires_pkce

    return _judged(await _where(installation, may_omit), "may omit PKCE", "--require-pkce")


async def implicit(installation: Installation) -> Finding:
    """Finds applications that get tokens in the address of a page."""

    def is_implicit(client: Application) -> bool:
        return "implicit" in client.grant_types or client.response_types != ["code"]

    found = await _where(installation, is_implicit)
    return found.judged(
        "applications",
        "use the implicit flow",
        [each.name for each in found.named],
        [command_lines.configure(each, _without_implicit(each)) for each in found.named],
    )


def _without_implicit(client: Application) -> str:
    kept = [each for each in client.grant_types if each != "implicit"]
    grants = dict.fromkeys(["authorization_code", *kept])
    options = [f"--grant-type {each.rpartition(':')[2].replace('_', '-')}" for each in grants]
    return " ".join(["--response-type code", *options])


async def debug(installation: Installation) -> Finding:
    """Finds applications whose error details are public, or that may use plain http."""
    now = installation.clock.now()

    def explains(client: Application) -> bool:
        return client.explains_until is not None and client.explains_until > now

    found = await _where(installation, lambda each: each.is_dev_mode or explains(each))
    lines = [
        command_lines.configure(each, "--no-dev-mode")
        if each.is_dev_mode
        else commands.no_debug(each)
        for each in found.named
    ]
    names = [each.name for each in found.named]
    return found.judged("applications", "are in debug or development mode", names, lines)


async def _where(
    installation: Installation, is_meant: Callable[[Application], bool]
) -> Matches[Application]:
    """Returns the active applications with sign-ins for which `is_meant` holds.

    The demo application of a loopback issuer is left out.
    """
    instance = await installation.opened.get(INSTANCES, INSTANCE_ID)
    is_local = installation.config.is_loopback
    demo = instance.demo.client_id if instance and instance.demo and is_local else None

    def counts(client: Application) -> bool:
        is_used = client.state == "active" and client.app_type != "api" and client.id != demo
        return is_used and is_meant(client)

    return await matching(installation, APPLICATIONS, counts)


def _judged(found: Matches[Application], problem: str, options: str) -> Finding:
    return found.judged(
        "applications",
        problem,
        [each.name for each in found.named],
        [command_lines.configure(each, options) for each in found.named],
    )


CHECKS: Final = (
    DoctorCheck(
        id="applications.open",
        area="safety",
        about=message("No application is open to everybody.", context="safety"),
        todo=message(
            "Let only the users of its own organization use an application, unless it is meant for"
            " everybody.",
            context="safety",
        ),
        run=open_to_everybody,
        needs="records",
    ),
    DoctorCheck(
        id="applications.pkce",
        area="safety",
        about=message("Every application has to use PKCE.", context="safety"),
        todo=message(
            "Require PKCE of each application whose library can do it.", context="safety"
        ),
        run=pkce,
        needs="records",
    ),
    DoctorCheck(
        id="applications.implicit",
        area="safety",
        about=message("No application uses the implicit flow.", context="safety"),
        todo=message("Move the application to the code flow with PKCE.", context="safety"),
        run=implicit,
        needs="records",
    ),
    DoctorCheck(
        id="applications.debug",
        area="safety",
        about=message("No application is in debug or development mode.", context="safety"),
        todo=message("Switch both off when you have finished testing.", context="safety"),
        run=debug,
        needs="records",
    ),
)
