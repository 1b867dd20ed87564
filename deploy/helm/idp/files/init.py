"""Makes the installation in an empty store, with the master key that is given, and ends.

The service does that at a start with --new-store. Its first line of output, with the
administrator's one-time password, becomes the output of this program. A store that has an
installation stays as it is.
"""

import signal
import subprocess
import sys

COMMAND = [sys.executable, "-m", "idp", "serve", "--new-store", "--json"]
COMMAND += ["--host", "127.0.0.1", "--port", "0"]

with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as service:  # noqa: S603
    ready = service.stdout.readline()
    sys.stdout.write(ready)
    sys.stdout.flush()
    service.send_signal(signal.SIGTERM)
    sys.exit(service.wait() if ready else service.wait() or 1)
