"""What every endpoint shares: the base handler, parameters, hosts, CORS."""
