"""Moving organizations in and out: packages, their import and export, other systems' files.

A *package* is a JSON document of organizations, each with lists of its contents. A *kind* is one
such list (`idp/transfer/kinds/`): how its rows are read, planned, stored and exported. An import
is a *job* (`idp/transfer/jobs/lifecycle.py`), which processes a package in batches of rows and can
be interrupted at any point.
"""
