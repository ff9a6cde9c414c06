"""Write what a rule's parameter `content` holds, a value of any size, as a JSON file."""

from textbaselines import storage

# Snakemake puts `snakemake` here before it runs the script.
storage.write_json(snakemake.output[0], snakemake.params.content)  # noqa: F821
