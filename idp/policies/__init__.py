"""Policies: what the installation and its organizations want of sign-ins, passwords and pages.

An organization that has none of its own has the installation's, and that one has what is built in.
"""
