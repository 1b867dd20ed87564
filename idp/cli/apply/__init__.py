"""`idp apply`: the installation as a file says that it is to be."""
