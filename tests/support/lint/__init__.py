"""The rules of the repository that no linter knows: `python -m tests.support.lint` names what
breaks one, and ends with status 1 then."""
