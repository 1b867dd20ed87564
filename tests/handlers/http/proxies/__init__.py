"""What every endpoint shares: hosts, CORS, bodies, parameters, limits, proxies."""
