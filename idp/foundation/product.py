"""The product's display name, in one place. The command, the package and the settings are named
`idp`; pages show the name of their organization.
"""

from __future__ import annotations

from typing import Final

NAME: Final = "Ostiary"
