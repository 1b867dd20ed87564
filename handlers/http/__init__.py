"""Base classes of the endpoints, strict parameter parsing, host checks and CORS."""
