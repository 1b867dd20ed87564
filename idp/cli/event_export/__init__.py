"""`idp audit export`: sealed events as lines of JSON, for programs that collect them."""
