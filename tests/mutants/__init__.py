"""Checks of the protocol that are taken away, one at a time, and the tests that notice."""

from __future__ import annotations

from tests.mutants import authorizing, clients, devices, exchanging, tokens

MUTANTS = [
    *clients.MUTANTS,
    *tokens.MUTANTS,
    *authorizing.MUTANTS,
    *exchanging.MUTANTS,
    *devices.MUTANTS,
]
