"""From text to features: tokenizers, n-gram counts, vocabularies with their UNK policy, weighting."""
