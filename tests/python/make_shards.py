"""Writes a tiny model as verl's FSDP ranks save it, and what the merge rule makes of it.

make_shards.py FOLDER WORLD MESH: MESH is fsdp or ddp,fsdp. FOLDER gets model_world_size_W_rank_R.pt,
huggingface/ and merged.safetensors, computed by torch: every local tensor to bfloat16, joined in rank
order along the shard dimension, copies from rank 0, plain tensors along dimension 0.
"""

import os
import sys
from collections import OrderedDict

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from safetensors.torch import save_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from transformers import Qwen2Config, Qwen2ForCausalLM

CONFIG = dict(
    vocab_size=61, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, max_position_embeddings=64, tie_word_embeddings=True,
    bos_token_id=None, eos_token_id=3,
)


def values(model):
    """The model's tensors, away from zero and one, some of them awkward to round."""
    generator = torch.Generator().manual_seed(7)
    state = model.state_dict()
    for name, tensor in state.items():
        if name != "lm_head.weight":
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * 3)
            tensor.view(-1)[0] = 1.00390625  # halfway between two bfloat16 values
            tensor.view(-1)[1] = 1e-40  # subnormal
    return state


def save(rank, world, names, folder, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    sizes = (world,) if len(names) == 1 else (2, world // 2)
    mesh = init_device_mesh("cpu", sizes, mesh_dim_names=names)
    shards = OrderedDict()
    for i, (name, tensor) in enumerate(values(Qwen2ForCausalLM(Qwen2Config(**CONFIG))).items()):
        # FSDP cuts dimension 0; other placements and plain tensors are in the rule as well.
        if name.endswith("o_proj.weight"):
            place = Shard(1)
        elif name.endswith("input_layernorm.weight"):
            place = Replicate()
        else:
            place = Shard(0)
        if name.endswith("post_attention_layernorm.weight"):
            shards[name] = tensor.chunk(sizes[-1])[rank % sizes[-1]].clone()
            continue
        if name.endswith("up_proj.weight"):
            tensor = tensor.half()
        places = [place] if len(names) == 1 else [Replicate(), place]
        shards[name] = distribute_tensor(tensor, mesh, places)
    if rank == 0 and world > 1:
        assert isinstance(shards["model.norm.weight"], DTensor)
    torch.save(shards, f"{folder}/model_world_size_{world}_rank_{rank}.pt")
    dist.barrier()
    if rank == 0:
        merge(world, sizes[-1], len(names), folder)
    dist.barrier()
    dist.destroy_process_group()


def merge(world, count, dims, folder):
    loaded = [
        torch.load(f"{folder}/model_world_size_{world}_rank_{r}.pt", weights_only=False)
        for r in range(count)
    ]
    merged = {}
    for name, first in loaded[0].items():
        parts = [state[name] for state in loaded]
        if isinstance(first, DTensor):
            local = [part._local_tensor.bfloat16() for part in parts]
            place = first.placements[dims - 1]
            merged[name] = local[0] if place.is_replicate() else torch.cat(local, dim=place.dim)
        else:
            merged[name] = torch.cat([part.bfloat16() for part in parts], dim=0)
    assert torch.equal(merged["lm_head.weight"], merged["model.embed_tokens.weight"])
    del merged["lm_head.weight"]  # tied, as save_pretrained leaves it out
    merged = {name: tensor.contiguous() for name, tensor in merged.items()}
    save_file(merged, f"{folder}/merged.safetensors", metadata={"format": "pt"})


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    folder, world, names = sys.argv[1], int(sys.argv[2]), tuple(sys.argv[3].split(","))
    model = Qwen2ForCausalLM(Qwen2Config(**CONFIG))
    model.config.save_pretrained(f"{folder}/huggingface")
    model.generation_config.save_pretrained(f"{folder}/huggingface")
    mp.spawn(save, (world, names, folder, free_port()), nprocs=world)


if __name__ == "__main__":
    main()
