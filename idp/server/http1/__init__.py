"""HTTP/1 connections of the public listener (RFC 9112): llhttp parses the requests, and Tornado's
application answers them.

`request_reader` reads requests from bytes, `exchange` is one request with its response,
`client_stream` the connection that they follow each other on, `tls` what encrypts it.
"""
