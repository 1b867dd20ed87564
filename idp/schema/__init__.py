"""Requests and answers of the management API: the rules of fields, reading of bodies, base
structs."""
