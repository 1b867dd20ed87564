"""The Markdown of integration guides."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from idp.clients import presets
from idp.clients.presets.preset import GROUPS, Kind, Preset
from tests.support.guides import refusals
from tests.support.guides.guide import Guide, Trouble

ISSUER: Final = "https://id.example"
CLIENT_ID: Final = "CLIENT_ID"
ANY_HOST: Final = "app.example"
MADE: Final = (
    "<!-- made by python -m tests.support.guides: change idp/clients/presets/ instead -->"
)
# As the console names them; tests compare them with its texts.
KINDS: Final[Mapping[Kind, str]] = {
    "web": "Server-side web application",
    "user_agent": "Single-page application",
    "native": "Native app or command line",
    "api": "API",
}
# From the folder of the guides.
_COMMAND_LINE: Final = "../../reference/command-line.md"
_APPLICATIONS: Final = "../../reference/applications.md"
_TESTS: Final = "../../../tests/"
# The line at the beginning of each further file of a configuration.
_NEXT_FILE: Final = re.compile(r"^(?:# )?---.*\n", re.MULTILINE)


def text(name: str, guide: Guide) -> str:
    """Returns the page of a preset's guide."""
    preset = presets.find(name)
    parts = [
        f"# {preset.title}",
        MADE,
        _status(guide),
        "## What you need",
        _bullets(_needs(guide)),
        "## Register",
        *_registration(name, preset, guide),
        "## Configure",
        *_configuration(name, preset, guide),
        "## Test",
        _numbered(guide.test),
        "## Troubleshoot",
        *_troubles(preset, guide),
    ]
    return "\n\n".join(parts) + "\n"


def index(guides: Mapping[str, Guide]) -> str:
    """Returns the page that lists the guides."""
    rows = [
        f"| [{presets.find(name).title}]({name}.md) | `{name}` | {_short_status(guide)} |"
        for name, guide in guides.items()
    ]
    parts = [
        "# Integration guides",
        MADE,
        "Each guide registers a well-known application by its preset, configures it, and tests "
        "it. *Tested* means that the configuration runs against the real program in the tests of "
        "this service.",
        "\n".join(["| guide | preset | status |", "|---|---|---|", *rows]),
        f"For any other application, see [applications]({_APPLICATIONS}).",
    ]
    return "\n\n".join(parts) + "\n"


def files(name: str, issuer: str, client_id: str, host: str) -> dict[str, str]:
    """Returns the text of each file of a preset's configuration, by the file's name.

    The arguments are those of `presets.configuration`.
    """
    text = presets.configuration(name, issuer, client_id, host)
    names = presets.find(name).file.split(", ")
    parts = [part.strip("\n") + "\n" for part in _NEXT_FILE.split(text)]
    return dict(zip(names, parts, strict=True))


def registered(name: str, guide: Guide) -> dict[str, Any]:
    """Returns the settings that the guide's commands register, by their names on the wire."""
    return presets.expand(name, guide.host or ANY_HOST)


def _status(guide: Guide) -> str:
    if not guide.tested_by:
        return (
            "**Configuration checked only**: the registration is tested, the program has not run "
            "with this configuration."
        )
    link = f"[tests/{guide.tested_by}]({_TESTS}{guide.tested_by})"
    return f"**Tested**: {link} runs this configuration against the real program."


def _short_status(guide: Guide) -> str:
    return "tested" if guide.tested_by else "configuration checked only"


def _needs(guide: Guide) -> Iterator[str]:
    yield from guide.needs
    yield (
        f"This service. Replace `{ISSUER}` below by its issuer"
        + (f", and `{guide.host}` by your host." if guide.host else ".")
    )
    yield "The permission `project.app.write` in the organization of the application."


# Registration


def _registration(name: str, preset: Preset, guide: Guide) -> Iterator[str]:
    yield "In the console:"
    yield _numbered(_console_steps(preset, guide))
    yield f"Or on the [command line]({_COMMAND_LINE}):"
    yield _fenced("sh", "\n".join(_commands(name, preset, guide)))
    if preset.kind != "api":
        yield "This registers:"
        yield _settings_table(registered(name, guide), preset)


def _console_steps(preset: Preset, guide: Guide) -> Iterator[str]:
    yield "Open **Applications** and select **New application**."
    yield f"Select **{KINDS[preset.kind]}**, then **{preset.title}**."
    host = f"Enter `{guide.host}` as **Host name or URL**. " if guide.host else ""
    yield f"{host}Select **Create the application**."
    if preset.has_secret:
        yield "Copy the client ID and the client secret. The secret is shown only once."
    else:
        yield "Copy the client ID. There is no client secret."
    if GROUPS in registered_claims(preset):
        yield "Add roles to the project, and assign them to users."


def registered_claims(preset: Preset) -> set[Any]:
    """Returns the names of the claims that the preset registers for roles."""
    choice = preset.chosen.get("groupsClaim")
    return {choice.value} if choice else set()


def _commands(name: str, preset: Preset, guide: Guide) -> Iterator[str]:
    title = json.dumps(preset.title.partition(" (")[0])
    yield f'PROJECT="$(idp project create --name {title} --get id)"'
    host = f" --host {guide.host}" if guide.host else ""
    secret = " --secret-file client-secret" if preset.has_secret else ""
    yield (
        f'idp app create --project "$PROJECT" --name {title} \\\n  --preset {name}{host}{secret}'
    )
    if GROUPS in registered_claims(preset):
        yield 'idp role add --project "$PROJECT" --key admin --display-name Administrators'


def _settings_table(settings: Mapping[str, Any], preset: Preset) -> str:
    rows = [
        f"| `{field}` | {_value(value)} | {_reason(field, preset)} |"
        for field, value in settings.items()
    ]
    return "\n".join(["| setting | value | why |", "|---|---|---|", *rows])


def _value(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    texts = [each if isinstance(each, str) else json.dumps(each) for each in values]
    return "<br>".join(f"`{each}`" for each in texts)


def _reason(field: str, preset: Preset) -> str:
    choice = preset.chosen.get(field)
    return choice.reason.msgid if choice else ""


# Configuration


def _configuration(name: str, preset: Preset, guide: Guide) -> Iterator[str]:
    host = guide.host or ANY_HOST
    texts = files(name, ISSUER, CLIENT_ID, host)
    for language, (file, text) in zip(guide.languages, texts.items(), strict=True):
        yield f"`{file}`:"
        yield _fenced(language, text.rstrip("\n"))
    yield _numbered(guide.steps)
    yield (
        f"With your own values: `idp preset configuration {name} --host {host} "
        f"--client-id {CLIENT_ID}`."
    )
    if preset.notes:
        yield "Note:"
        yield _bullets([note.msgid for note in preset.notes])


# Errors


def _troubles(preset: Preset, guide: Guide) -> Iterator[str]:
    yield (
        f"`idp explain --last --client {CLIENT_ID}` explains the newest refusal of this service, "
        "with the fix."
    )
    rows = [_row(each) for each in (*guide.troubles, *refusals.of(preset))]
    yield "\n".join(["| message | cause | fix |", "|---|---|---|", *rows])


def _row(trouble: Trouble) -> str:
    fence = "``" if "`" in trouble.message else "`"
    pad = " " if fence == "``" else ""
    message = f"{fence}{pad}{trouble.message}{pad}{fence}"
    return f"| {message} | {trouble.cause} | {trouble.fix} |"


# Markdown


def _bullets(items: Sequence[str] | Iterator[str]) -> str:
    return "\n".join(f"* {each}" for each in items)


def _numbered(items: Sequence[str] | Iterator[str]) -> str:
    return "\n".join(f"{number}. {each}" for number, each in enumerate(items, 1))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
