"""The command line: data on stdout, everything else on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click

from idp import __version__
from idp.cli import naming
from idp.foundation import standard_streams

# Each command with its module and summary. Only the module of the called command is imported.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "serve": ("idp.cli.commands.serve:serve", "Start the service."),
    "init": ("idp.cli.commands.init:init", "Create the installation, and end."),
    "config": ("idp.cli.commands.config:config", "The settings in force."),
    "doctor": ("idp.cli.commands.doctor:doctor", "Whether the installation works and is safe."),
    "schema": ("idp.cli.commands.schema:schema", "The version of what is stored."),
    "store": ("idp.cli.commands.store:store", "Whether the store is whole; its file, compacted."),
    "backup": ("idp.cli.commands.backup:backup", "Backups of everything."),
    "restore": ("idp.cli.commands.backup:restore", "Restore a backup into an empty store."),
    "copy-store": ("idp.cli.commands.backup:copy_store", "Copy a store into an empty one."),
    "admin": ("idp.cli.commands.admin:admin", "Ways back in."),
    "explain": ("idp.cli.commands.explain:explain", "Why a request was refused."),
    "org": ("idp.cli.nouns.organizations:org", "Organizations."),
    "domain": ("idp.cli.nouns.organizations:domain", "The domains of an organization."),
    "member": ("idp.cli.nouns.organizations:member", "Who manages an organization, or all."),
    "user": ("idp.cli.nouns.users:user", "People, and whatever is kept with a user."),
    "grant": ("idp.cli.nouns.users:grant", "The roles of projects that users have."),
    "service-user": ("idp.cli.nouns.machines:service_user", "Service users: scripts."),
    "pat": ("idp.cli.nouns.machines:pat", "Personal access tokens of service users."),
    "key": ("idp.cli.nouns.machines:key", "Keys of service users and applications."),
    "key2jwt": ("idp.cli.commands.key2jwt:key2jwt", "An assertion, made of a key file."),
    "project": ("idp.cli.nouns.projects:project", "Projects: what groups applications."),
    "project-grant": (
        "idp.cli.nouns.projects:project_grant",
        "The organizations that a project is granted to.",
    ),
    "role": ("idp.cli.nouns.projects:role", "The roles that a project knows."),
    "app": ("idp.cli.nouns.applications:app", "Applications."),
    "preset": ("idp.cli.nouns.presets:preset", "Settings for well-known applications."),
    "policy": ("idp.cli.nouns.policies:policy", "Policies of organizations and the instance."),
    "text": ("idp.cli.nouns.policies:text", "The words of letters."),
    "picture": ("idp.cli.nouns.page_settings:picture", "Logos and icons of the login pages."),
    "page-text": ("idp.cli.nouns.page_settings:page_text", "Texts of the login pages."),
    "mail": ("idp.cli.nouns.mail:mail", "Mail and text messages."),
    "security": ("idp.cli.nouns.instance:security", "The security policy of the instance."),
    "feature": ("idp.cli.nouns.instance:feature", "Features of the instance."),
    "passwords": ("idp.cli.commands.passwords:passwords", "Lists of breached passwords."),
    "keys": ("idp.cli.commands.keys:keys", "The keys that sign and seal tokens."),
    "background": ("idp.cli.nouns.instance:background", "What goes on by itself."),
    "audit": ("idp.cli.nouns.audit:audit", "What was changed, by whom and when."),
    "migrate": (
        "idp.cli.commands.migrate:migrate",
        "Files of other systems, made into an import.",
    ),
    "import": (
        "idp.cli.commands.import_package:import_",
        "Bring in organizations with all in them.",
    ),
    "job": ("idp.cli.nouns.jobs:job", "Imports: how far they came, and what was wrong."),
    "apply": ("idp.cli.apply.command:apply", "Bring all into the state that a file tells."),
    "export": ("idp.cli.commands.export:export", "Organizations with all in them, as a file."),
    "api": ("idp.cli.commands.api:api", "Any call of the management API."),
    "completion": ("idp.cli.commands.completion:completion", "Completion for a shell."),
}


class Commands(click.Group):
    """The group of all commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return naming.refuse_empty_names(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="idp")
def main() -> None:
    """A self-hosted OpenID Connect and OAuth 2.0 identity service."""
    standard_streams.secure()
