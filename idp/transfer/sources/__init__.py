"""Sources of persons: files of other systems, converted into the package of an import.

A new source needs a module here with a class that implements `source.Source`, and a command in
`idp/cli/commands/migrate.py` with arguments for its files.
"""
