"""Our numbers beside those of Wang & Manning (2012)."""
