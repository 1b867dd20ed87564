"""The console's pages of policies, page texts and pictures."""
