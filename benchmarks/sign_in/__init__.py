"""The information that the duration of a sign-in reveals, and the effect of many sign-ins on other
requests."""
