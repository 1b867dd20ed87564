"""Policies: the rules of the installation and its organizations for sign-ins, passwords and pages.

An organization without a policy of its own has the installation's, and that is the built-in one if
none is set.
"""
