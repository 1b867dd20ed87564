"""Figures of sign-ins over time, counted by organization and hour; approximate, because a process
that is killed loses its last seconds."""
