"""The edition in the name of a ZIM file: ``wikipedia_en_all_maxi_2026-06``."""

from __future__ import annotations

import re

# Kiwix's own rule is YYYY-MM and up to two letters for a second dump in the month; a day is met in
# files of other makers.
EDITION = re.compile(r"(?P<date>\d{4}-\d{2}(?:-\d{2})?)(?P<part>[a-z]{0,2})", re.IGNORECASE)
"""An edition by itself."""

DATED = re.compile(rf"(?P<name>.+)_{EDITION.pattern}", re.IGNORECASE)
"""A file's name without its extension: the name that all editions share, and the edition."""
