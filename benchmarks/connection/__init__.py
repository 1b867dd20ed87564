"""The processor time of a request on the service's own connection, and on Tornado's."""
