"""HTTP: each module reads its requests, calls the rules in `idp`, and answers."""
