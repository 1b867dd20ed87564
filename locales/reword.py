"""Renames messages in the catalogues: `python -m locales.reword`, in the root of the source tree.

`reword.toml` lists the messages that were reworded. Change the sources, add an entry for each, and
run this, then `python -m locales.extract`. Entries are never removed: a text that an installation
has stored for an earlier wording applies to the current one. Running it again changes nothing.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from locales.extract import replace


def renamed(
    catalog: Catalog, context: str, old: str, new: str, *, keeps_translation: bool
) -> bool:
    """Renames one message of a catalogue, and returns whether the catalogue had it.

    Its translation stays if `keeps_translation`, because it still says the same; otherwise it
    becomes empty."""
    message = catalog.get(old, context)
    if message is None or catalog.get(new, context) is not None:
        return False
    catalog.delete(old, context)
    # The plural of the sources is added by `locales.extract`.
    new_id = (new, new) if isinstance(message.id, tuple) else new
    forms = message.string
    empty_forms = ("",) * len(forms) if isinstance(forms, tuple | list) else ""
    catalog.add(new_id, forms if keeps_translation else empty_forms, context=context)
    return True


def main() -> None:
    folder = Path.cwd() / "locales"
    entries = tomllib.loads((folder / "reword.toml").read_text(encoding="utf-8"))["message"]
    for path in sorted(folder.glob("*.po")):
        with path.open("rb") as file:
            catalog = read_po(file, locale=path.stem.replace("-", "_"))
        renamed_messages = [
            renamed(
                catalog,
                entry["context"],
                entry["old"],
                entry["new"],
                keeps_translation=entry["same_meaning"],
            )
            for entry in entries
        ]
        if any(renamed_messages):
            replace(path, catalog)


if __name__ == "__main__":
    main()
