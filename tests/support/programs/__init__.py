"""The product as a process or a command line, and the tools of the machine that tests need for
it."""
