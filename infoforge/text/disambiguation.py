"""Which pages only say what a name may mean."""

from __future__ import annotations

import re

MARKERS = (
    "#disambigbox,#disambig,.disambig,.disambigbox,.dmbox-disambig,.mw-disambig-page,"
    "#Vorlage_Begriffsklärung,.homonymie,.bandeau-homonymie,[data-disambiguation],"
    ".disambiguation,.mod-disambig"
)
"""CSS selector of what wikis mark such pages with."""

_TITLE = re.compile(
    r"[(（](?:disambiguation|begriffsklärung|homonymie|desambiguación|desambiguação|disambigua|"
    r"doorverwijspagina|значения|неоднозначность|消歧义|消歧義|曖昧さ回避|ujednoznacznienie|"
    r"olika betydelser|anlam ayrımı|동음이의|توضيح|пошук|значення|rozcestník)[)）]\s*$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\b(?:may|can|could|might) (?:also |most commonly )?(?:refer to|mean|stand for)\b"
    r"[^.]{0,80}:?\s*$"
    r"|\b(?:commonly|often|usually|generally) refers to\b[^.]{0,40}:\s*$"
    r"|\bis the name of\b[^.]{0,40}:\s*$"
    r"|\b(?:steht für|bezeichnet|ist der name)\b[^.]{0,40}:\s*$"
    r"|\bpeut (?:désigner|faire référence à|se référer à)\b[^.]{0,40}:?\s*$"
    r"|\bpuede (?:referirse|hacer referencia|designar)\b[^.]{0,40}:?\s*$"
    r"|\bpode (?:referir-se|se referir|significar)\b[^.]{0,40}:?\s*$"
    r"|\bpuò riferirsi\b[^.]{0,40}:?\s*$"
    r"|\bkan (?:verwijzen naar|betekenen|syfta på|avse|betyde|henvise til)\b[^.]{0,40}:?\s*$"
    r"|\b(?:может означать|многозначн\w+)\b"
    r"|(?:可以|可能)(?:是)?指|可指[:：]|には以下の|は以下の|を指す[。:：]?\s*$",
    re.IGNORECASE,
)


def looks_like(title: str, lead: str) -> bool:
    """Whether a page's title or first line says that it only disambiguates.

    Args:
        title: The page's title.
        lead: The first paragraph's text.
    """
    return bool(_TITLE.search(title)) or (len(lead) < 200 and bool(_LEAD.search(lead)))
