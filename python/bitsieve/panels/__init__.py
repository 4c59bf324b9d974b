"""Panels that predict."""
