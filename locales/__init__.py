"""The texts of pages, messages and commands: a gettext catalogue for each translation."""
