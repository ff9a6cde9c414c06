"""Named corpora: where their files come from, how they are read, and what is checked."""
