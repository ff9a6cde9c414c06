"""What is behind the numbers: errors, calibration, lengths, repeated texts, curves."""
