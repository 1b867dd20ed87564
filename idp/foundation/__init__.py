"""Tools that know nothing of identity: clock, randomness, strict JSON, errors, texts, logs."""
