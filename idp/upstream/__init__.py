"""Other identity providers: offered connections, attempts, identities, links to users, and the
protocol (`oidc`)."""
