"""The report of a study: one page that opens offline, from the files under ``results/``."""
