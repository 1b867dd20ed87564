"""`python -m tests.screens [STATE …]` takes the pictures of docs/screens anew, or some of them."""

from __future__ import annotations

import sys

from playwright.sync_api import sync_playwright

from tests.browser import states
from tests.browser.chromium import FLAGS, executable
from tests.screens import gallery
from tests.screens.stage import Stage


def main(wanted):
    gallery.FOLDER.mkdir(exist_ok=True)
    with Stage() as stage, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=executable(), args=[*FLAGS, stage.flag]
        )
        for state in wanted or states.STATES:
            print(state, file=sys.stderr)
            for look, png in gallery.pictures(chromium, stage, state):
                gallery.keep(gallery.FOLDER / gallery.file_of(state, look), png)
        chromium.close()
    for path in gallery.FOLDER.glob("*.png"):
        if path.name not in gallery.files():
            path.unlink()
    gallery.INDEX.write_text(gallery.index())


if __name__ == "__main__":
    main(sys.argv[1:])
