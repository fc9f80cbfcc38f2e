"""From a question to ranked articles and passages."""
