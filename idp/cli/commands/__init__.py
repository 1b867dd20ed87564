"""Commands that are written by hand; those over an operation are in `idp.cli.nouns`."""
