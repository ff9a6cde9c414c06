"""Whether a difference is real: paired tests, contrasts and ranks over datasets."""
