"""Mutants of the authorization and end-session endpoints."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

MUTANTS: list[Mutant] = []
