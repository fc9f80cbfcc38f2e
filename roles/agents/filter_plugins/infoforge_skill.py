"""Whether a skill file is InfoForge's own, and untouched since it was written."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping

_DIGEST = re.compile(r'(infoforge-digest: ")([0-9a-f]*)(")')


def infoforge_skill_kept(slurped: Mapping[str, str]) -> bool:
    """Whether what slurp found must be kept: a file that was edited, or is not ours.

    Args:
        slurped: A result of ansible.builtin.slurp; a failed one means that there is no file.
    """
    if "content" not in slurped:
        return False
    try:
        text = base64.b64decode(slurped["content"]).decode("utf-8")
    except UnicodeDecodeError:
        return True
    mark = _DIGEST.search(text)
    blank = _DIGEST.sub(r"\1\3", text, count=1)
    # As infoforge/agents/skill.py does it; a test compares the two.
    return mark is None or mark[2] != hashlib.sha256(blank.encode("utf-8")).hexdigest()[:32]


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict[str, Callable[[Mapping[str, str]], bool]]:
        """The filters by name."""
        return {"infoforge_skill_kept": infoforge_skill_kept}
