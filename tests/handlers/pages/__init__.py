"""Templates, languages, the manual, the demonstration and held mail."""
