"""Sources of persons: files of other systems, converted into the package of an import.

To add a source: a module here with a class that implements `source.Source`, and a command in
`idp/cli/commands/migrate.py` that names its files.
"""
