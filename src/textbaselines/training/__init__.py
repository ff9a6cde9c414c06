"""Train the tasks of a batch and write what they gave."""
