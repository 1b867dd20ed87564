"""Second factors, passkeys and recovery codes."""
