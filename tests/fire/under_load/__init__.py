"""Two groups of processes under load, while a part of what they need fails or is replaced."""
