"""Entry point of the console script and of ``python -m infoforge``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the answer to a bare ``--version`` loads nothing else."""
    if sys.argv[1:] == ["--version"]:
        from infoforge import __version__

        sys.stdout.write(f"infoforge {__version__}\n")
        return
    from infoforge.cli import run

    run()


if __name__ == "__main__":
    main()
