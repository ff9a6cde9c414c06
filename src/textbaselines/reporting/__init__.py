"""Results as a reader sees them: tables, figures, the MLflow pages and the paper's own tables."""
