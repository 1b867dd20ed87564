"""An installation has none, and starts sooner: only what tests bring along needs it."""

raise ImportError("a program in tests has what an installation has")
