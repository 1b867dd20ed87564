"""Packages in an object storage bucket."""
