"""The manual's pages with values as their heads describe them (see page_samples)."""

from idp.api.manual import FieldRow, ManualEntry, ManualPage


def part(said):
    entry = ManualEntry(
        anchor="POST-v2-users",
        method="POST",
        path=said("/v2/users/{userId}"),
        summary=said("Make a user."),
        permission=said("user.write"),
        about=said("A name has to be there."),
        fields=[FieldRow(said("name"), said("text, 1 to 200 characters"), True)],
        command=said("curl -X POST"),
        is_conditional=True,
    )
    return ManualPage(said("Users"), "/docs/users", [entry])


def pages(said):
    entry = {
        "name": "user.not_found",
        "status": 404,
        "text": said("Look."),
    }
    return {
        "docs": {
            "parts": [part(said)],
            "about": said("Strict JSON."),
            "organization_header": said("x-idp-orgid"),
        },
        "docs-part": {"part": part(said)},
        "docs-errors": {"catalogue": [(said("People"), [entry])]},
    }


BARE = {
    "docs": {"parts": [], "about": "Strict JSON.", "organization_header": "x-idp-orgid"},
    "docs-part": {"part": ManualPage("Users", "/docs/users", [])},
    "docs-errors": {"catalogue": []},
}
