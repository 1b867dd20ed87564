"""The checks of each protocol endpoint, by name and in the order in which they are made.

A rule refuses a request inside of its check::

    with checks.CODE_CLIENT:
        if authorization.client_id != client.id:
            raise InvalidGrant("the code was issued to another client")

The error then names the check that failed, and the lists in these modules show which ones had
passed before. `idp explain` prints both; for a request that passes nothing is recorded.
"""
