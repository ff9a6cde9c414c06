"""The experiment logic: study, folds, grids, training, evaluation, significance."""
