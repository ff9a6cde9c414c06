"""Figures of results, each with the same in words."""
