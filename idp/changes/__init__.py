"""Changes: planned by one function, committed by another.

A planner reads what it needs and returns a `Change`: the answer, and the writes that make it true,
which are one unit. It stores nothing. `commit` stores the unit, and runs the planner again if a
concurrent change came first.
"""

from idp.changes.change import Author, Change, Part, Planned, Task, by
from idp.changes.committing import Plan, UnitLimit, commit, run, store
from idp.changes.record_changes import RecordChange, check_version, created, removed, updated

__all__ = [
    "Author",
    "Change",
    "Part",
    "Plan",
    "Planned",
    "RecordChange",
    "Task",
    "UnitLimit",
    "by",
    "check_version",
    "commit",
    "created",
    "removed",
    "run",
    "store",
    "updated",
]
