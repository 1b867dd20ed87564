"""The checks of each protocol endpoint, by name and in the order in which they are made.

A rule refuses inside of its check::

    with checks.CODE_CLIENT:
        if authorization.client_id != client.id:
            raise InvalidGrant("the code was issued to another client")

The error then knows which check did not hold, and the lists below tell which ones had held. So
`idp explain` tells the whole story, and a request that passes leaves no trail and costs nothing.
"""
