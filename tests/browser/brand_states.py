"""What the console has for the looks of pages, in every state (see states)."""

from __future__ import annotations

from tests.support.pictures import SVG

POLICIES = "/ui/console/policies"


def opened(path):
    return lambda person: person.go(POLICIES + path)


def picture_refused(person):
    person.go(f"{POLICIES}/pictures/logo")
    file = {"name": "logo.svg", "mimeType": "image/svg+xml", "buffer": SVG}
    person.page.set_input_files('[name="content"]', files=[file])
    person.press("Save")


def text_refused(person):
    person.go(f"{POLICIES}/texts?language=de&screen=page")
    person.page.locator("textarea").first.fill("100 %")
    person.press("Save")


PREVIEW = "/label/preview?typed=yes&primaryColor=%237a1f3d&page=password"


# name of the state: (data-page, whether it reports a problem, the way there)
STATES = {
    "console, colours": ("console/action", False, opened("/label")),
    "console, logo, refused": ("console/picture", True, picture_refused),
    "console, texts, refused": ("console/page-texts", True, text_refused),
    "console, preview": ("console/preview", True, opened(PREVIEW)),
}
