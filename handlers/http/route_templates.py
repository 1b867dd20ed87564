"""Templates of routes: the path of an endpoint with `{}` in place of variable parts, such as ids.

Traces name a request by it, because the path itself may contain ids and has any number of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from tornado.routing import URLSpec

from idp.api.operation import Operation

_GROUP: Final = re.compile(r"\([^()]*\)")


def of_path(path: str, fixed: Mapping[str, Any], patterns: Iterable[URLSpec]) -> str:
    """Returns the template of the route that answers requests to `path`; without one, ``''``.

    `fixed` has the routes without variable parts by their path, `patterns` the others.
    """
    if path in fixed:
        return path
    route = next((candidate for candidate in patterns if candidate.regex.match(path)), None)
    if route is None:
        return ""
    operations: Mapping[str, Operation] = (route.kwargs or {}).get("operations", {})
    return next(
        (candidate.path for candidate in operations.values()), _of_pattern(route.regex.pattern)
    )


@lru_cache(maxsize=1024)
def _of_pattern(pattern: str) -> str:
    return _GROUP.sub("{}", pattern).removesuffix("$").replace(".*", "{}").replace("\\", "")
