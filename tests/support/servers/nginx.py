"""Debian's nginx in front of a port of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.programs import debian
from tests.support.servers.replica_set import DIE_WITH_PARENT

PROGRAM = "/usr/sbin/nginx"

# Bodies go on as they arrive, so that chunks stay chunks; connections are kept.
CONFIGURATION = """
daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format read escape=json
    '{{"method": "$request_method", "target": "$request_uri", "status": "$upstream_status"}}';
  access_log {directory}/access.log read;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  client_header_timeout 1s;
  client_body_timeout 1s;
  upstream service {{ server 127.0.0.1:{service}; keepalive 4; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost;
      proxy_request_buffering off;
      proxy_next_upstream off;
    }}
  }}
}}
"""


class Nginx:
    """A running nginx at `port`, in front of `service`, which ends with the test process."""

    def __init__(self, directory: Path, port: int, service: int) -> None:
        debian.need(nginx="nginx-light")
        file = directory / "nginx.conf"
        file.write_text(CONFIGURATION.format(directory=directory, port=port, service=service))
        parent = [sys.executable, "-S", "-c", DIE_WITH_PARENT, str(os.getpid())]
        self.port = port
        self._log = directory / "access.log"
        self.process = subprocess.Popen(
            [*parent, PROGRAM, "-e", str(directory / "error.log"), "-c", str(file)],
            stderr=subprocess.DEVNULL,
        )

    def answered(self) -> list[tuple[str, str]]:
        """Method and target of each request that went on to the service and was not refused
        there."""
        written = self._log.read_text("latin-1") if self._log.exists() else ""
        lines = map(json.loads, written.split("\n")[:-1])
        return [(each["method"], each["target"]) for each in lines if each["status"] == "200"]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
