"""What every other package stands on: errors, files, logs, seeds and the environment."""
