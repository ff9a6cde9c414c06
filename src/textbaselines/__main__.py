"""``python -m textbaselines``: results on the terminal, and the tracking store."""

import sys

try:
    from textbaselines.cli.commands import main

    main()
except KeyboardInterrupt:
    # Also while libraries are imported, before click would see it.
    sys.exit(130)
