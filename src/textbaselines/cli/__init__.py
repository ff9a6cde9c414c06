"""The commands of ``python -m textbaselines`` and what they check first."""
