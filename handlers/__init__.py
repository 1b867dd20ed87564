"""HTTP: a handler reads its request, calls one function of `idp`, and answers."""
