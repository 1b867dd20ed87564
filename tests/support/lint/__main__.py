from __future__ import annotations

import sys

from tests.support.lint import budgets, rules, words

if __name__ == "__main__":
    found = [*rules.problems(), *budgets.problems(), *words.problems()]
    for problem in found:
        print(problem)
    sys.exit(bool(found))
