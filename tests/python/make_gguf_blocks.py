#!/usr/bin/env python3
"""Random blocks of every GGUF type with the values PyPI's gguf gives them, and values with the bytes it packs.

    python3 make_gguf_blocks.py SEED BLOCKS > blocks.json

Needs `pip install gguf`.
"""
import base64, json, sys
import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

READ = "F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL".split()
WRITTEN = "F32 F16 BF16 Q8_0 Q4_0 Q4_1".split()
# Where a block keeps its float16 scales: random bits there may be no number.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "IQ4_NL": [0], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}


def text(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def halves(random, count):
    """Any finite float16, subnormal ones and both zeros among them."""
    bits = random.integers(0, 0x7c00, count, dtype=np.uint16) | (random.integers(0, 2, count, dtype=np.uint16) << 15)
    bits[: count // 8] &= 0x83ff
    return bits.astype(np.uint16)


def blocks(random, name, count):
    kind = GGMLQuantizationType[name]
    values, size = GGML_QUANT_SIZES[kind]
    if name == "F32": return random.standard_normal((count, 32)).astype(np.float32)
    if name == "F16": return halves(random, 32 * count).view(np.float16).reshape(count, 32)
    if name == "BF16":
        return (random.standard_normal(32 * count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8).reshape(count, 64)
    packed = random.integers(0, 256, (count, size), dtype=np.uint8)
    for at in SCALES[name]: packed[:, at:at + 2] = halves(random, count).view(np.uint8).reshape(count, 2)
    return packed


def floats(random, count):
    """Rows of weights: of one size, of many, one value alone, all the same, none."""
    rows = random.standard_normal((count, 32)) * np.exp(4 * random.standard_normal((count, 1)) - 4)
    rows[::5] *= np.exp(3 * random.standard_normal((len(rows[::5]), 32)))
    rows[1::9] = rows[1::9, :1]
    rows[2::11] = np.round(rows[2::11] * 8) / 8
    rows[3::13] = 0
    return rows.astype(np.float32) + np.float32(0)  # no -0: which zero is the least is not said


random = np.random.default_rng(int(sys.argv[1]))
count = int(sys.argv[2])
out = {"read": {}, "written": {}}
for name in READ:
    packed = blocks(random, name, count)
    values = quants.dequantize(packed, GGMLQuantizationType[name]).astype(np.float32)
    assert np.isfinite(values).all(), name
    out["read"][name] = {"bytes": text(packed), "values": text(values)}
values = floats(random, 14 * count)
out["written"]["values"] = text(values)
out["written"]["bytes"] = {name: text(quants.quantize(values, GGMLQuantizationType[name])) for name in WRITTEN}
json.dump(out, sys.stdout)
