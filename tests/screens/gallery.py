"""The pictures of the pages: which there are, how one is taken, and how they are shown.

All of them are made into a folder that git ignores; those that documents show are kept in docs.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from PIL import Image, ImageChops

from tests.browser import states
from tests.browser.person import Person
from tests.screens.stage import REQUEST_ID, cookies_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "screens"
INDEX = FOLDER / "README.md"
KEPT_FOLDER = ROOT / "docs" / "screens"
MOST_HIGH = 2200
COLOURS = 96
FAINT = 16  # of 255: a difference that nobody sees in a few pixels

# Head of the column: what the browser is like.
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "Arabic": {"locale": "ar"},
    "320 px": {"viewport": {"width": 320, "height": 400}},
}
USUAL = {"locale": "en", "viewport": {"width": 600, "height": 400}}

# The state and the look of each picture that a document shows.
KEPT = [
    ("login name", "light"),
    ("login name", "dark"),
    ("register", "Arabic"),
    ("accounts", "light"),
    ("account", "light"),
    ("account, security", "320 px"),
    ("consent", "light"),
    ("explain", "light"),
    ("console", "light"),
    ("console, user", "light"),
    ("console, preview", "light"),
    ("console, import under way", "light"),
]

HEAD = """\
# Every page in its states

Made by `python -m tests.screens`; a test renders every page in every state.
"""


def file_of(state, look):
    return "-".join(re.findall("[a-z0-9]+", f"{state} {look}".lower())) + ".png"


def files():
    return [file_of(state, look) for state in states.STATES for look in LOOKS]


def kept():
    """The names of the files that documents show."""
    return [file_of(state, look) for state, look in KEPT]


def index():
    """The text of the page that shows all pictures."""
    lines = [HEAD, "| | " + " | ".join(LOOKS) + " |", "|---" * (len(LOOKS) + 1) + "|"]
    for state in states.STATES:
        shown = [f"![{state}, {look}]({file_of(state, look)})" for look in LOOKS]
        lines.append(f"| {state} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def pictures(chromium, stage, state):
    """The PNG of each look of a state."""
    who, name, _, go = states.STATES[state]
    with stage.program() as program:
        cookies = cookies_of(chromium, program, who)
        for look, options in LOOKS.items():
            person = Person(
                chromium,
                program,
                storage_state=cookies,
                extra_http_headers=REQUEST_ID,
                **USUAL | options,
            )
            go(person)
            assert (person.name, person.complaints) == (name, []), state
            yield look, _small(whole(person.page))
            person.context.close()
            program.clock.advance(60)


def whole(page):
    """The PNG of a page, as far as anybody would scroll: of the manual, the beginning."""
    element = "document.documentElement"
    width, height = page.evaluate(f"[{element}.clientWidth, {element}.scrollHeight]")
    if height > MOST_HIGH:  # Chromium may draw all of such a page, and not come to an end
        page.set_viewport_size({"width": width, "height": MOST_HIGH})
        return page.screenshot()
    return page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})


def put(state, look, png):
    """Write the picture to its place, or places."""
    name = file_of(state, look)
    keep(FOLDER / name, png)
    if name in kept():
        keep(KEPT_FOLDER / name, png)


def tidy():
    """Remove pictures of states that are gone, and write the page that shows the others."""
    for folder, names in ((FOLDER, files()), (KEPT_FOLDER, kept())):
        for path in folder.glob("*.png"):
            if path.name not in names:
                path.unlink()
    INDEX.write_text(index())


def keep(path, png):
    """Write the picture, unless the one that is there looks the same."""
    if not (path.exists() and are_alike(path.read_bytes(), png)):
        path.write_bytes(png)


def are_alike(*pngs):
    """Whether nobody can tell two pictures apart: Chromium rounds some pixels now so, now so."""
    one, other = (Image.open(io.BytesIO(png)).convert("RGB") for png in pngs)
    if one.size != other.size:
        return False
    red, green, blue = ImageChops.difference(one, other).split()
    apart = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(apart[1:]) <= one.width * one.height // 100 and not any(apart[FAINT + 1 :])


def _small(png):
    """The picture with its most frequent colours alone: a third of the bytes."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    counted = sorted(picture.getcolors(picture.width * picture.height), reverse=True)
    kept = [colour for _, colour in counted[:COLOURS]]
    nearest = {colour: kept.index(_nearest(colour, kept)) for _, colour in counted}
    bands = [picture.getchannel(band).tobytes() for band in "RGB"]
    pixels = bytes(nearest[colour] for colour in zip(*bands, strict=True))
    few = Image.frombytes("P", picture.size, pixels)
    few.putpalette([part for colour in kept for part in colour])
    written = io.BytesIO()
    few.save(written, "PNG", optimize=True)
    return written.getvalue()


def _nearest(colour, kept):
    return min(kept, key=lambda other: sum(abs(a - b) for a, b in zip(colour, other, strict=True)))
