"""The pages of sign-in, registration, password reset and sign-out."""
