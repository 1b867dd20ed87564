"""The addresses of well-known providers, and the issuers that follow from an administrator's
values."""
