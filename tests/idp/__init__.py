"""The functions of `idp`, in the folders of `idp`."""
