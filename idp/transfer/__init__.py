"""Moving organizations in and out: packages, their import and export, other systems' files.

A *package* is a JSON document of organizations, each with lists of what is in it. A *kind* is one
such list (`idp/transfer/kinds/`): how its rows are read, judged, stored, and told again. An import
is a *job* (`idp/transfer/jobs/lifecycle.py`), which goes through a package in batches of rows and
can be cut off anywhere.
"""
