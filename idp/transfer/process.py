"""Runs `idp.server.import_process`, for a parent of the release before, which starts this name.

To be deleted with the release after.
"""

import runpy

runpy.run_module("idp.server.import_process", run_name="__main__")
