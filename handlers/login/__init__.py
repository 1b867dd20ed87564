"""The pages of signing in and out."""
