"""Installations that earlier releases made: the present one opens them and goes on."""
