"""Text without a corpus: HTML to text, tokens, word lists."""
