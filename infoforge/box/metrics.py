"""What doctor found in the text format that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from infoforge import __version__
from infoforge.box.health import FAIL, PASS, WARN, CheckResult
from infoforge.contract import CheckFailed
from infoforge.files import write_atomic

MEASURES = {
    # what a check measured: (name of the metric, help, name of the label)
    "age_days": ("infoforge_dump_age_days", "Days since the date of the dump.", "zim"),
    "free_bytes": ("infoforge_disk_free_bytes", "Free space.", "path"),
    "search_seconds": ("infoforge_search_seconds", "Time of one full-text search.", "corpus"),
    "completion_seconds": ("infoforge_completion_seconds", "Time of one token.", "endpoint"),
}


def text(checks: Sequence[CheckResult], *, seconds: float, now: float) -> str:
    """The metrics of one look.

    Args:
        checks: What was found.
        seconds: How long it took.
        now: Seconds since 1970.
    """
    counts = {status: sum(c.status == status for c in checks) for status in (PASS, WARN, FAIL)}
    worst: dict[str, int] = {}
    for check in checks:
        worst[check.name] = min(worst.get(check.name, 1), int(check.status != FAIL))
    lines = [
        *_family("infoforge_up", "1 when no check fails.", [({}, int(not counts[FAIL]))]),
        *_family(
            "infoforge_checks",
            "Checks by their result.",
            [({"status": status.lower()}, count) for status, count in counts.items()],
        ),
        *_family(
            "infoforge_check_ok",
            "1 when the check does not fail.",
            [({"check": name}, value) for name, value in worst.items()],
        ),
    ]
    for key, (name, told, label) in MEASURES.items():
        rows = [({label: c.label}, c.measured[key]) for c in checks if key in c.measured]
        lines += _family(name, told, rows)
    lines += _family("infoforge_doctor_seconds", "How long the look took.", [({}, seconds)])
    lines += _family("infoforge_doctor_time_seconds", "When it ended.", [({}, now)])
    lines += _family("infoforge_info", "The version.", [({"version": __version__}, 1)])
    return "\n".join(lines) + "\n"


def _family(name: str, told: str, rows: Iterable[tuple[Mapping[str, str], float]]) -> list[str]:
    listed = [f"{name}{_labels(labels)} {value:.15g}" for labels, value in rows]
    return [f"# HELP {name} {told}", f"# TYPE {name} gauge", *listed] if listed else []


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = []
    for name, value in labels.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        pairs.append(f'{name}="{escaped}"')
    return "{" + ",".join(pairs) + "}"


def write(path: Path, metrics: str) -> None:
    """Put the metrics where a node exporter reads them: whole, and readable by it.

    Raises:
        CheckFailed: The file cannot be written.
    """
    try:
        write_atomic(path, metrics, mode=0o644, durable=False)
    except OSError as error:
        raise CheckFailed(
            f"cannot write {path}: {error.strerror or error}", "give another file with --output"
        ) from error
