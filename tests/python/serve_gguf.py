#!/usr/bin/env python3
"""Writes a Qwen2 folder with a byte-level tokenizer as GGUF and serves it with llama.cpp's own server.

    python3 serve_gguf.py FOLDER FILE.gguf

Prints the server's address and ends with its standard input. Needs `pip install xllamacpp gguf safetensors`.
"""
import json, sys
from pathlib import Path
import gguf, xllamacpp
from safetensors.numpy import load_file

NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def renamed(name):
    if name == "model.embed_tokens.weight": return "token_embd.weight"
    if name == "model.norm.weight": return "output_norm.weight"
    if name == "lm_head.weight": return "output.weight"
    _, _, layer, rest = name.split(".", 3)
    module, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[module]}.{kind}"


def write(folder, path):
    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    out = gguf.GGUFWriter(path, "qwen2")
    out.add_block_count(config["num_hidden_layers"])
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(config["hidden_size"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(config["num_attention_heads"])
    out.add_head_count_kv(config["num_key_value_heads"])
    out.add_rope_freq_base(config["rope_theta"])
    out.add_layer_norm_rms_eps(config["rms_norm_eps"])
    names, kinds = [f"[unused{i}]" for i in range(config["vocab_size"])], [gguf.TokenType.UNUSED] * config["vocab_size"]
    for text, i in tokenizer["model"]["vocab"].items():
        names[i], kinds[i] = text, gguf.TokenType.NORMAL
    for token in tokenizer["added_tokens"]:
        names[token["id"]] = token["content"]
        kinds[token["id"]] = gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("qwen2")
    out.add_token_list(names)
    out.add_token_types(kinds)
    out.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]])
    out.add_eos_token_id(config["eos_token_id"])
    out.add_add_bos_token(False)
    for name, values in load_file(folder / "model.safetensors").items():
        out.add_tensor(renamed(name), values)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main():
    folder, path = Path(sys.argv[1]), sys.argv[2]
    write(folder, path)
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 4
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
