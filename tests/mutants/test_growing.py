"""What CONTRIBUTING says of adding things: a grant is a module, and a line beside the others."""

from __future__ import annotations

import shutil
from pathlib import Path

GROWING = Path(__file__).parent / "growing"
LINE = '    "urn:example:please": please.GRANT,\n'


def test_a_new_grant_is_a_module_and_a_line(copy, tried):
    grants = copy / "idp/oauth/grants"
    shutil.copy(GROWING / "grant.py", grants / "please.py")
    shutil.copy(GROWING / "case.py", copy / "tests/handlers/test_please.py")
    registry = grants / "__init__.py"
    text = registry.read_text(encoding="utf-8")
    importing = "from idp.oauth.grants import (\n"
    registered = "GRANTS: Final[dict[str, Grant]] = {\n"
    assert (text.count(importing), text.count(registered)) == (1, 1)
    text = text.replace(importing, importing + "    please,\n")
    registry.write_text(text.replace(registered, registered + LINE), encoding="utf-8")

    ran = tried("tests/handlers/test_please.py")

    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "2 passed" in ran.stdout
