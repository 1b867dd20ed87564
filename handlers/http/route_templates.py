"""Templates of routes: the path of an endpoint with `{}` in the place of what varies, as an id.

Traces name a request by it: the path itself may hold ids, and has any number of values.
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
    route = next((each for each in patterns if each.regex.match(path)), None)
    if route is None:
        return ""
    operations: Mapping[str, Operation] = (route.kwargs or {}).get("operations", {})
    return next((each.path for each in operations.values()), _of_pattern(route.regex.pattern))


@lru_cache(maxsize=1024)
def _of_pattern(pattern: str) -> str:
    return _GROUP.sub("{}", pattern).removesuffix("$").replace(".*", "{}").replace("\\", "")
