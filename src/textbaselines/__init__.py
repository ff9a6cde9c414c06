"""The classical baselines of text classification, run honestly and shown as a paper shows them."""

__version__ = "0.1.0"
