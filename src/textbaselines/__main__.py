"""``python -m textbaselines``: results on the terminal, and the tracking store."""

from textbaselines.commands import main

main()
