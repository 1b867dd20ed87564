"""What the service does over HTTP, by the part of `handlers` that answers."""
