"""Sources of people: files of other systems, made into the package of an import.

To add a source: a module here with a class that fulfils `source.Source`, and a command in
`idp/cli/commands/migrate.py` that names its files.
"""
