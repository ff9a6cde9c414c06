"""From text to features: tokenizers, n-gram counts, fold vocabularies and weighting."""
