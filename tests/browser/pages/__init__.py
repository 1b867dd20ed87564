"""Every page as a browser shows it: in each state, in each way, and with hostile names."""
