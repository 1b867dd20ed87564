"""The published description of the management API, in `samples/openapi.json`.

`python -m tests.support.openapi_sample` writes that file anew, for a change that clients are meant
to see.
"""

from __future__ import annotations

import json
from pathlib import Path

from idp.api import description

SAMPLE = Path(__file__).parent / "samples" / "openapi.json"


def described() -> str:
    """The description of an installation at a fixed issuer, with its members in their order."""
    document = description.document("acme", "https://id.acme.example")
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SAMPLE.write_text(described(), encoding="utf-8")
