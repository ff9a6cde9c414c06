"""From the scores of runs to cells: metrics, selection, costs."""
