"""The command line: data on stdout, everything else on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click

from idp.cli import naming
from idp.foundation import standard_streams

# Each command with its module and summary. Only the module of the called command is imported.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "serve": ("idp.cli.commands.serve:serve", "Start the service."),
    "init": ("idp.cli.commands.init:init", "Create the installation and exit."),
    "config": ("idp.cli.commands.config:config", "The effective settings."),
    "doctor": ("idp.cli.commands.doctor:doctor", "Whether the installation works and is safe."),
    "schema": ("idp.cli.commands.schema:schema", "The schema version of the store."),
    "store": ("idp.cli.commands.store:store", "Verify the store."),
    "backup": ("idp.cli.commands.backup:backup", "Create and verify backups."),
    "restore": ("idp.cli.commands.backup:restore", "Restore a backup into an empty store."),
    "copy-store": ("idp.cli.commands.backup:copy_store", "Copy a store into an empty one."),
    "admin": ("idp.cli.commands.admin:admin", "Regain access to the installation."),
    "explain": ("idp.cli.commands.explain:explain", "Why a request was refused."),
    "org": ("idp.cli.nouns.organizations:org", "Organizations."),
    "domain": ("idp.cli.nouns.organizations:domain", "The domains of an organization."),
    "member": ("idp.cli.nouns.organizations:member", "The managers of an organization."),
    "user": ("idp.cli.nouns.users:user", "Users and their data."),
    "grant": ("idp.cli.nouns.users:grant", "The project roles of users."),
    "group": ("idp.cli.nouns.groups:group", "Groups of users and their roles."),
    "service-user": ("idp.cli.nouns.machines:service_user", "Service users (for programs)."),
    "pat": ("idp.cli.nouns.machines:pat", "Personal access tokens of service users."),
    "key": ("idp.cli.nouns.machines:key", "Keys of service users and applications."),
    "key2jwt": ("idp.cli.commands.key2jwt:key2jwt", "Create an assertion from a key file."),
    "project": ("idp.cli.nouns.projects:project", "Projects."),
    "project-grant": (
        "idp.cli.nouns.projects:project_grant",
        "Grants of projects to organizations.",
    ),
    "role": ("idp.cli.nouns.projects:role", "The roles of a project."),
    "app": ("idp.cli.nouns.applications:app", "Applications."),
    "preset": ("idp.cli.nouns.presets:preset", "Settings for well-known applications."),
    "policy": ("idp.cli.nouns.policies:policy", "Policies of organizations and the instance."),
    "text": ("idp.cli.nouns.policies:text", "The texts of emails and text messages."),
    "picture": ("idp.cli.nouns.page_settings:picture", "Logos and icons of the sign-in pages."),
    "page-text": ("idp.cli.nouns.page_settings:page_text", "Texts of the sign-in pages."),
    "connection": (
        "idp.cli.nouns.connections:connection",
        "Connections to other identity providers.",
    ),
    "mail": ("idp.cli.nouns.mail:mail", "Emails and text messages."),
    "security": ("idp.cli.nouns.instance:security", "The security policy of the instance."),
    "feature": ("idp.cli.nouns.instance:feature", "Features of the instance."),
    "keys": ("idp.cli.commands.keys:keys", "The keys that sign and encrypt tokens."),
    "background": ("idp.cli.nouns.instance:background", "Background tasks."),
    "usage": ("idp.cli.nouns.instance:usage", "Figures of sign-ins and active users over time."),
    "audit": ("idp.cli.nouns.audit:audit", "The audit log: who changed what, and when."),
    "migrate": (
        "idp.cli.commands.migrate:migrate",
        "Convert files of other systems for an import.",
    ),
    "import": (
        "idp.cli.commands.import_package:import_",
        "Import organizations with their contents.",
    ),
    "job": ("idp.cli.nouns.jobs:job", "Import jobs: their progress and errors."),
    "apply": ("idp.cli.apply.command:apply", "Apply the state that a file describes."),
    "export": ("idp.cli.commands.export:export", "Export organizations with their contents."),
    "api": ("idp.cli.commands.api:api", "Any call of the management API."),
    "completion": (
        "idp.cli.commands.completion:completion",
        "Print the completion script of a shell.",
    ),
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


def _print_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        version = import_module("idp.cli.program_version").described()
        click.echo(f"idp, version {version}")
        context.exit()


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """A self-hosted OpenID Connect and OAuth 2.0 identity service."""
    standard_streams.secure()
