"""Starts `idp.server.import_worker` for a parent process of the previous release, which uses this
name.

To be deleted with the next release.
"""

import runpy

runpy.run_module("idp.server.import_worker", run_name="__main__", alter_sys=True)
