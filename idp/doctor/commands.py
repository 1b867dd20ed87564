"""The command lines that fix what the checks find."""

from __future__ import annotations

from shlex import quote

from idp.oauth.refusals.command_lines import with_id
from idp.records import Application, PersonalAccessToken, RegisteredKey, User


def no_debug(client: Application) -> str:
    """Returns the `idp` command line that ends an application's debug mode."""
    command = f"idp app debug --project {quote(client.project_id)}"
    return with_id(command, client.id, f"--duration 0s --org {quote(client.org_id)}")


def policy(kind: str, org_id: str | None, options: str) -> str:
    """Returns the `idp` command line that changes a policy of the organization `org_id`, or of the
    installation if that is None.

    `kind` is the policy's name in the command line, and `options` are the command line's options
    for the new values.
    """
    owner_option = "--instance" if org_id is None else f"--org {quote(org_id)}"
    return f"idp policy set {kind} {owner_option} {options}"


def revoke(token: PersonalAccessToken) -> str:
    """Returns the `idp` command line that revokes a personal access token."""
    command = f"idp pat revoke --user {quote(token.user_id)}"
    return with_id(command, token.id, f"--org {quote(token.org_id)}")


def remove_key(key: RegisteredKey, owner: User | Application | None) -> str:
    """Returns the `idp` command line that removes the key of a service user or of an application;
    empty if the owner was deleted.
    """
    if owner is None:
        return ""
    owner_options = f"--user {quote(owner.id)}"
    if isinstance(owner, Application):
        owner_options = f"--project {quote(owner.project_id)} --app {quote(owner.id)}"
    return with_id(f"idp key remove {owner_options}", key.id, f"--org {quote(owner.org_id)}")


def rename(user: User) -> str:
    """Returns the `idp` command line that shortens a user's name to the part before its last
    `@`."""
    name = user.user_name.rpartition("@")[0]
    options = f"--user-name {quote(name)} --org {quote(user.org_id)}"
    return with_id("idp user change", user.id, options)


def resend_email(user: User) -> str:
    """Returns the `idp` command line that sends a verification code to a user's e-mail address."""
    return with_id("idp user resend-email", user.id, f"--org {quote(user.org_id)}")
