"""Change a list in the configuration file and leave every other byte, comments too, as it is."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import yaml

from infoforge.config.document import Plain, parse
from infoforge.contract import ConfigError
from infoforge.files import write_atomic

_PLAIN = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)(?:[a-z]|~?/)(?:[a-z0-9_.+/~-]|:(?=[a-z0-9/]))*\Z",
    re.I,
)
_WIDTH = 100


def set_enabled(path: Path, names: Sequence[str]) -> bool:
    """Set ``zims.enabled`` in a configuration file; ``zims enable`` and ``disable`` are made of it.

    Comments, order and layout of the rest stay as they are; a comment next to or above a name that
    stays in the list goes with it. The result is read back and compared before it is written, and
    replaced atomically, with the file's mode; a symbolic link is followed.

    Args:
        path: The configuration file; made (with its folder) when it is not there.
        names: The whole new list, most preferred first; empty means every ZIM in the folder.

    Returns:
        Whether the file was changed; ``False`` when it says so already.

    Raises:
        ConfigError: A name cannot stand in the list, the file is not valid YAML or cannot be
            written, or its layout (an alias, say) makes a safe change impossible.
    """
    return set_list(path, "zims", "enabled", names)


def set_list(path: Path, section: str, key: str, values: Sequence[str]) -> bool:
    """Set a list of words below a top-level section; see `set_enabled`.

    Args:
        path: The configuration file.
        section: Top-level key.
        key: Key in it.
        values: The new list.

    Returns:
        Whether the file was changed.

    Raises:
        ConfigError: As `set_enabled`.
    """
    for value in values:
        if not value or "/" in value or not value.isprintable():
            raise ConfigError(
                f"{section}.{key}: {json.dumps(value)} cannot stand in the list",
                "file names, or names without the date, are allowed",
            )
    raw = _read(path)
    data = parse(raw, path).data
    here = data.get(section)
    if (here.get(key, []) if isinstance(here, dict) else []) == list(values):
        return False
    bom = "\ufeff" if raw.startswith(b"\xef\xbb\xbf") else ""
    text = raw.decode("utf-8-sig")
    edited = _Editor(text, path, section, key, list(values)).run()
    wanted = {**data, section: {**(here if isinstance(here, dict) else {}), key: list(values)}}
    if not _reads_as(edited, wanted, path):
        raise _by_hand(path, section, key, values)
    write_file(path, bom + edited)
    return True


def write_file(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Replace a configuration file atomically.

    Args:
        path: The file; its folder is made, a symbolic link is followed.
        text: Its new content.
        mode: Mode of a new file; one that is there keeps its own.

    Raises:
        ConfigError: It cannot be written.
    """
    target = path.resolve() if path.is_symlink() else path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(target.stat().st_mode)
        write_atomic(target, text, mode=mode)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be written: {error.strerror or error}", "check the folder and its mode"
        ) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error


def _reads_as(text: str, wanted: Plain, path: Path) -> bool:
    try:
        return bool(parse(text.encode(), path).data == wanted)
    except ConfigError:
        return False


def _by_hand(path: Path, section: str, key: str, values: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"{path}: {section}.{key} cannot be changed safely in this layout",
        f"write it by hand: {section}: {{{key}: {_flow(values)}}}",
    )


def word(value: str) -> str:
    """Text as YAML reads it back: as it is where that is safe, quoted where not."""
    return value if _PLAIN.match(value) else json.dumps(value, ensure_ascii=False)


def _flow(values: Sequence[str]) -> str:
    return "[" + ", ".join(word(v) for v in values) + "]"


class _Editor:
    """Finds the place of one list in the text, by the marks of YAML's parser, and changes it."""

    def __init__(self, text: str, path: Path, section: str, key: str, values: list[str]) -> None:
        self._text = text
        self._path = path
        self._section = section
        self._key = key
        self._values = values
        self._newline = "\r\n" if "\r\n" in text else "\n"

    def run(self) -> str:
        """The changed text."""
        # The parser in Python counts characters; the one in C is faster, which is no matter here.
        root = yaml.compose(self._text, Loader=yaml.SafeLoader)
        if not isinstance(root, yaml.MappingNode):
            return self._append()
        if root.flow_style:
            raise _by_hand(self._path, self._section, self._key, self._values)
        section = self._find(root, self._section)
        if section is None:
            return self._append()
        head, body = section
        if not isinstance(body, yaml.MappingNode):
            if not body.tag.endswith(":null"):
                raise _by_hand(self._path, self._section, self._key, self._values)
            return self._fill(head, body, self._block(self._indent(head) + 2))
        if body.flow_style:
            return self._in_flow(body)
        entry = self._find(body, self._key)
        if entry is None:
            return self._add(body)
        return self._replace(*entry)

    def _find(self, node: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node] | None:
        for head, body in node.value:
            if isinstance(head, yaml.ScalarNode) and head.value == key:
                # An alias's node lies where its anchor is; a change there would change both.
                moved = body.start_mark.index < head.end_mark.index
                anchored = self._text[body.start_mark.index : body.start_mark.index + 1] in "&!*"
                if (moved or anchored) and body.start_mark.index != body.end_mark.index:
                    raise _by_hand(self._path, self._section, self._key, self._values)
                return head, body
        return None

    def _append(self) -> str:
        """No such section: it comes to the end of the file."""
        nl = self._newline
        text = self._text
        # An explicit end of the document, or a lone null, leaves no room behind it.
        if text and not text.endswith("\n"):
            text += nl
        gap = nl if text.strip() else ""
        return f"{text}{gap}{self._section}:{nl}{self._block(2)}"

    def _block(self, indent: int) -> str:
        """The key and its list, as lines at an indentation."""
        pad, nl = " " * indent, self._newline
        if not self._values:
            return f"{pad}{self._key}: []{nl}"
        return f"{pad}{self._key}:{nl}" + self._items(indent + 2)

    def _items(self, indent: int) -> str:
        return "".join(f"{' ' * indent}- {word(v)}{self._newline}" for v in self._values)

    def _indent(self, node: yaml.Node) -> int:
        return int(node.start_mark.column)

    def _line_end(self, index: int) -> int:
        """The index behind the line break of the line that holds an index."""
        found = self._text.find("\n", index)
        return len(self._text) if found < 0 else found + 1

    def _insert(self, index: int, lines: str, text: str) -> str:
        before = text[:index]
        if before and not before.endswith("\n"):
            before += self._newline
        return before + lines + text[index:]

    def _fill(self, head: yaml.Node, body: yaml.Node, lines: str) -> str:
        """A key without value (or with ``null``, ``~``): lines go below it, a comment stays."""
        start, end = body.start_mark.index, body.end_mark.index
        if start == end:
            return self._insert(self._line_end(head.end_mark.index), lines, self._text)
        text = self._text[:start] + self._text[end:]
        found = text.find("\n", start)
        return self._insert(len(text) if found < 0 else found + 1, lines, text)

    def _in_flow(self, body: yaml.MappingNode) -> str:
        """``zims: {folder: x}``: stays in one line."""
        entry = self._find(body, self._key)
        if entry is None:
            at = body.start_mark.index + 1
            comma = ", " if body.value else ""
            return f"{self._text[:at]}{self._key}: {_flow(self._values)}{comma}{self._text[at:]}"
        node = entry[1]
        start, end = node.start_mark.index, node.end_mark.index
        if start == end:
            raise _by_hand(self._path, self._section, self._key, self._values)
        return self._text[:start] + _flow(self._values) + self._text[end:]

    def _add(self, body: yaml.MappingNode) -> str:
        """A section without the key: below its last value, where no comment of another key is."""
        leaf: yaml.Node = body
        while isinstance(leaf, yaml.CollectionNode) and leaf.value and not leaf.flow_style:
            last = leaf.value[-1]
            leaf = last[1] if isinstance(last, tuple) else last
        end = leaf.end_mark.index
        at = end if leaf.end_mark.column == 0 else self._line_end(end)
        if leaf.start_mark.index == end:  # a key without value: its mark is where the next one is
            at = self._line_end(body.value[-1][0].end_mark.index)
        return self._insert(at, self._block(self._indent(body)), self._text)

    def _replace(self, head: yaml.Node, node: yaml.Node) -> str:
        """The key is there: change its list in the style it has."""
        indent = self._indent(head)
        start, end = node.start_mark.index, node.end_mark.index
        if isinstance(node, yaml.SequenceNode) and not node.flow_style:
            return self._replace_block(head, node)
        if start == end:
            if not self._values:
                raise _by_hand(self._path, self._section, self._key, self._values)
            return self._fill(head, node, self._items(indent + 2))
        old = self._text[start:end]
        line_start = self._text.rfind("\n", 0, head.start_mark.index) + 1
        comments = [" ".join(part.split()) for part in re.findall(r"(?m)(?:^|\s)(#.*)$", old)]
        kept = "".join(f"{' ' * indent}{comment}{self._newline}" for comment in comments)
        flow = _flow(self._values)
        if "\n" not in old and start - line_start + len(flow) <= _WIDTH:
            return self._text[:start] + flow + self._text[end:]
        text = self._text[:start].rstrip(" ") + self._text[end:]
        if not self._values:
            text = self._text[:start] + "[]" + self._text[end:]
            return text[:line_start] + kept + text[line_start:]
        found = text.find("\n", start - 1)
        text = self._insert(len(text) if found < 0 else found + 1, self._items(indent + 2), text)
        return text[:line_start] + kept + text[line_start:]

    def _replace_block(self, head: yaml.Node, node: yaml.SequenceNode) -> str:
        """A list in lines: each line goes with its comments."""
        first = self._line_end(head.end_mark.index)
        pad = " " * self._indent(node)
        chunks: dict[str, str] = {}
        at = first
        for item in node.value:
            stop = self._line_end(item.end_mark.index)
            if isinstance(item, yaml.ScalarNode):
                chunks[item.value] = self._text[at:stop]
            at = stop
        lines = ""
        for value in self._values:
            chunk = chunks.get(value, f"{pad}- {word(value)}{self._newline}")
            lines += chunk if chunk.endswith("\n") else chunk + self._newline
        if lines:
            return self._text[:first] + lines + self._text[at:]
        colon = self._text.index(":", head.end_mark.index) + 1
        return self._text[:colon] + " []" + self._text[colon:first] + self._text[at:]
