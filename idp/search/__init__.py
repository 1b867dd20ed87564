"""Planning of queries, and paging."""
