"""Models that leave the study: trained on all documents, stored, loaded and served."""
