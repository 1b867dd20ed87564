"""Commands with their own code; those that only run an operation are in `idp.cli.nouns`."""
