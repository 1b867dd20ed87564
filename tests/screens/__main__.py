"""`python -m tests.screens [STATE …]` takes the pictures of all pages, or of some states.

They are written to `screens/`, which git ignores, and those that documents show to
`docs/screens/`, too.
"""

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
                gallery.put(state, look, png)
        chromium.close()
    gallery.tidy()


if __name__ == "__main__":
    main(sys.argv[1:])
