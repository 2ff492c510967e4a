"""Milliseconds of processor per row of two agent loops inside verl 0.9.1, the tree's and verl's own, at a server
that answers at once with the same 48 tokens: verl_loops.py ROOT. Prints a line of JSON."""

import asyncio
import json
import logging
import os
import sys
import time

os.environ["VERL_USE_EXTERNAL_MODULES"] = "arpo_verl"
sys.path.insert(0, os.path.join(sys.argv[1], "data/verl"))

from omegaconf import OmegaConf  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402
from verl.experimental.agent_loop.agent_loop import DictConfigWrap  # noqa: E402
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop  # noqa: E402
from verl.utils.dataset.rl_dataset import RLHFDataset  # noqa: E402
from verl.workers.rollout.replica import TokenOutput  # noqa: E402
from arpo_verl.loop import ArpoTreeLoop  # noqa: E402

logging.disable(logging.WARNING)  # each loop says that it knows no builder for the model
n, prompts, rounds = 16, 16, 5
tokenizer = AutoTokenizer.from_pretrained(os.path.join(sys.argv[1], "data/models/tiny"))
said = tokenizer.encode("<think>I compute 12+3.</think><answer>\\boxed{15}</answer>")[:47] + [tokenizer.eos_token_id]


class Server:
    async def generate(self, request_id, prompt_ids, sampling_params, **_):
        return TokenOutput(token_ids=list(said), log_probs=[-0.5] * len(said), stop_reason="completed",
                           num_preempted=0, extra_fields=dict(global_steps=0))


rollout = dict(n=n, prompt_length=256, response_length=512, max_model_len=None, val_kwargs=dict(n=1))
config = OmegaConf.create(dict(actor_rollout_ref=dict(rollout=rollout), data={}))
given = dict(trainer_config=DictConfigWrap(config), server_manager=Server(), tokenizer=tokenizer, processor=None,
             dataset_cls=RLHFDataset, data_config=DictConfigWrap(config.data))
settings = dict(initial_rollouts=8, beam_size=2, branch_probability=0.5, entropy_weight=0.2, call_limit=3,
                call_tools=dict(python="calculator"))
messages = [dict(role="user", content="What is 12 + 3?")]


async def rows(make, uid):
    """All rows of one prompt, as verl's worker asks for them: a loop for each."""
    await asyncio.gather(*[make().run({}, uid=uid, session_id=i, raw_prompt=messages, index=0, global_steps=1)
                           for i in range(n)])


async def measure(make, name):
    best = float("inf")
    for round in range(rounds):
        began = time.process_time()
        for prompt in range(prompts):
            await rows(make, f"{name}-{round}-{prompt}")
        best = min(best, time.process_time() - began)
    return 1000 * best / (n * prompts)


async def main():
    tree = await measure(lambda: ArpoTreeLoop(**given, **settings), "tree")
    stock = await measure(lambda: SingleTurnAgentLoop(**given), "stock")
    print(json.dumps(dict(tree=tree, stock=stock)), flush=True)


asyncio.run(main())
