"""What samples for verl on a CPU: the calls of its servers over `sampler`, and how weights come to it."""

import asyncio
import os

import ray
import torch
from sampler import load, write
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, TokenOutput


@ray.remote(num_cpus=0)
class CpuServer:
    def __init__(self, path):
        self.model, self.tokenizer, self.eos = load(path)
        self.steps, self.one = 0, asyncio.Lock()

    async def generate(self, prompt_ids, sampling_params, request_id, **_):
        asked = sampling_params
        async with self.one:
            # The stock loop says no seed.
            seed = asked.get("seed", hash((tuple(prompt_ids), request_id)))
            ids, logprobs, tops, why = await asyncio.to_thread(
                write, self.model, self.tokenizer, prompt_ids, max_tokens=asked.get("max_tokens", 64), seed=seed,
                temperature=asked.get("temperature", 1.0), stop=asked.get("stop") or (), eos=self.eos)
        extra = dict(global_steps=self.steps, top_logprobs=[[value for _, value in best] for best in tops])
        return TokenOutput(token_ids=ids, log_probs=logprobs, num_preempted=0, extra_fields=extra,
                           stop_reason="length" if why == "length" else "completed")

    def take(self, tensors, steps):
        own, taken = dict(self.model.named_parameters()), 0
        with torch.no_grad():
            for name, value in tensors:
                if name in own:
                    own[name].copy_(value)
                    taken += 1
        self.steps = steps or 0
        # Whoever wants to sample with these weights too finds them here.
        kept = os.path.join(os.environ["ARPO_LAB_JOB"], "results", "weights", str(self.steps))
        self.model.save_pretrained(kept)
        self.tokenizer.save_pretrained(kept)
        return taken

    def nothing(self, *_, **__):
        pass

    wake_up = sleep = abort_all_requests = resume_generation = nothing
    clear_kv_cache = release_kv_cache = resume_kv_cache = nothing


class CpuReplica(RolloutReplica):
    async def launch_servers(self):
        name = f"cpu_server_{self.replica_rank}"
        server = CpuServer.options(name=name, max_concurrency=1000).remote(self.model_config.path)
        self.servers, self._server_handle, self._server_address = [server], server, name


class CpuAdapter(BaseRollout):
    async def resume(self, tags):
        pass

    async def release(self):
        pass

    async def update_weights(self, weights, global_steps=None, **_):
        plain = lambda t: (t.full_tensor() if hasattr(t, "full_tensor") else t).detach().cpu().clone()
        if hasattr(weights, "__aiter__"):
            tensors = [(name, plain(value)) async for name, value in weights]
        else:
            tensors = [(name, plain(value)) for name, value in weights]
        if torch.distributed.get_rank() == 0:
            taken = await ray.get_actor("cpu_server_0").take.remote(tensors, global_steps)
            print(f"hf_cpu: {taken} of {len(tensors)} tensors at step {global_steps}", flush=True)
