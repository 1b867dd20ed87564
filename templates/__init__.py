"""The pages' markup, in Mako."""
