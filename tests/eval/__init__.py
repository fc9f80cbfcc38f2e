"""Retrieval measured: question sets, generated corpora, and the run that prints them."""
