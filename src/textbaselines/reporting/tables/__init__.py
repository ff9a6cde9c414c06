"""Tables and lists of results, for pages, files and terminals."""
