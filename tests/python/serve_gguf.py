#!/usr/bin/env python3
"""Serves a GGUF file with llama.cpp's own server, in single precision wherever it has the choice.

    python3 serve_gguf.py FILE.gguf [SEQUENCES]

So many sequences (4) share a context of 2,048 tokens. Prints the server's address and ends with its standard input. Needs `pip install xllamacpp`.
"""
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = 0
params.n_ctx = 2048
params.n_parallel = int(sys.argv[2]) if len(sys.argv) > 2 else 4
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_F32
params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
