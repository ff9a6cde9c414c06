"""What a study asks for, its folds and grids, and the plan of its batches."""
