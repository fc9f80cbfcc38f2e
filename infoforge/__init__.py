"""InfoForge: cited answers from offline wikis, through a local language model."""

__version__ = "0.1.0"
