"""A BERT model's folder (safetensors) as an ONNX graph, so that no torch is needed to run it.

The graph is made of ONNX Runtime's own fused operators (`com.microsoft`): the runtime then has
nothing left to optimise when it loads the file, and a question need not wait for that.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from infoforge.files import write_atomic
from infoforge.text.parse import from_json
from infoforge.vault.errors import VaultError, missing

_MS = "com.microsoft"
FORMAT = 1
"""Raised when the graph changes, so that graphs made before are not used."""

_Weights = dict[str, Any]


def graph_of(folder: Path, cache: Path) -> Path | bytes:
    """The model of a folder as ONNX.

    Args:
        folder: With ``onnx/model.onnx``, ``model.onnx``, or ``model.safetensors`` and
            ``config.json`` of a BERT model.
        cache: Folder where a converted graph is kept.

    Returns:
        The path of an ONNX file; its bytes when the cache cannot be written.

    Raises:
        VaultError: There is no model in the folder, or not a BERT.
    """
    for name in ("onnx/model.onnx", "model.onnx"):
        if (folder / name).is_file():
            return folder / name
    source = folder / "model.safetensors"
    if not source.is_file():
        raise VaultError(
            f"{folder} holds no model (model.safetensors, or onnx/model.onnx)",
            "set vault.embedding.path to the folder of a sentence-transformers model",
            code="model_missing",
        )
    stat = source.stat()
    kept = cache / f"bert-{FORMAT}-{stat.st_size}-{stat.st_mtime_ns}.onnx"
    if kept.is_file():
        return kept
    data = _convert(folder, source)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        write_atomic(kept, data, mode=0o600)
    except OSError:
        return data
    return kept


def read_safetensors(path: Path) -> _Weights:
    """The tensors of a safetensors file by name, as float32 or int64 arrays.

    Raises:
        VaultError: The file is damaged or of another kind.
    """
    import numpy as np

    kinds = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}
    try:
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = from_json(data[8 : 8 + length])
        found: _Weights = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            start, end = entry["data_offsets"]
            raw = data[8 + length + start : 8 + length + end]
            array = np.frombuffer(raw, dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
            found[name.removeprefix("bert.")] = (
                array.astype("<f4") if entry["dtype"][0] == "F" else array
            )
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise VaultError(
            f"{path} is damaged or no safetensors file: {error}",
            "install the model again",
            code="model_damaged",
        ) from error
    return found


def _convert(folder: Path, source: Path) -> bytes:
    try:
        import numpy as np
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise missing(error.name or "onnx") from error

    try:
        config = from_json((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VaultError(f"{folder}/config.json: {error}", code="model_damaged") from error
    if config.get("model_type") != "bert" or config.get("hidden_act", "gelu") != "gelu":
        raise VaultError(
            f"{folder} holds a {config.get('model_type')} model; safetensors: only BERT is read",
            "use its ONNX export (onnx/model.onnx), or an embedding server: kind: openai",
            code="model_kind",
        )
    weights = read_safetensors(source)
    heads, epsilon = config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)
    nodes: list[Any] = []
    constants: list[Any] = []

    def keep(name: str, array: Any) -> str:  # noqa: ANN401 - an array
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(op: str, inputs: list[str], outputs: list[str], domain: str = "", **more: Any) -> None:  # noqa: ANN401
        nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **more))

    base = "embeddings"
    add(
        "EmbedLayerNormalization",
        [
            "input_ids",
            "token_type_ids",
            keep("words", weights[f"{base}.word_embeddings.weight"]),
            keep("positions", weights[f"{base}.position_embeddings.weight"]),
            keep("kinds", weights[f"{base}.token_type_embeddings.weight"]),
            keep("gamma", weights[f"{base}.LayerNorm.weight"]),
            keep("beta", weights[f"{base}.LayerNorm.bias"]),
        ],
        ["x0", "unused"],
        _MS,
        epsilon=epsilon,
    )
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        own = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        joined = np.concatenate([weights[f"{part}.weight"].T for part in own], axis=1)
        biases = np.concatenate([weights[f"{part}.bias"] for part in own])
        add(
            "Attention",
            [f"x{layer}", keep(f"qkv{layer}", joined), keep(f"qkvb{layer}", biases), "mask"],
            [f"a{layer}"],
            _MS,
            num_heads=heads,
        )

        def dense(into: str, name: str, out: str, layer: int = layer) -> None:
            add("MatMul", [into, keep(f"{out}w{layer}", weights[f"{name}.weight"].T)], [out])

        def norm(values: list[str], name: str, bias: str, out: str, layer: int = layer) -> None:
            parts = [
                keep(f"{out}g{layer}", weights[f"{name}.LayerNorm.weight"]),
                keep(f"{out}s{layer}", weights[f"{name}.LayerNorm.bias"]),
                keep(f"{out}b{layer}", weights[bias]),
            ]
            add("SkipLayerNormalization", [*values, *parts], [out], _MS, epsilon=epsilon)

        dense(f"a{layer}", f"{at}.attention.output.dense", f"o{layer}")
        output = f"{at}.attention.output"
        norm([f"o{layer}", f"x{layer}"], output, f"{output}.dense.bias", f"n{layer}")
        dense(f"n{layer}", f"{at}.intermediate.dense", f"i{layer}")
        wide = keep(f"ib{layer}", weights[f"{at}.intermediate.dense.bias"])
        add("BiasGelu", [f"i{layer}", wide], [f"g{layer}"], _MS)
        dense(f"g{layer}", f"{at}.output.dense", f"f{layer}")
        norm([f"f{layer}", f"n{layer}"], f"{at}.output", f"{at}.output.dense.bias", f"x{layer + 1}")
    add("Identity", [f"x{config['num_hidden_layers']}"], ["last_hidden_state"])
    whole = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "length"])
        for name in ("input_ids", "mask", "token_type_ids")
    ]
    result = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "length", config["hidden_size"]]
    )
    graph = helper.make_graph(nodes, "bert", whole, [result], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_MS, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    onnx.helper.set_model_props(model, {"made by": "infoforge"})
    written: bytes = model.SerializeToString()
    return written
