"""`idp apply`: brings the installation into the state that a file describes."""
