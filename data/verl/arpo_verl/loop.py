"""ARPO's tree as an agent loop of verl 0.9.1; no class of verl is overridden.

verl's V1 worker runs the n sessions of a prompt in one process (agent_loop_tq.py), each as
run(uid=…, session_id=i). The first of a uid grows the whole tree; each then takes its own row of it.
All settings come from agent_loop.yaml: the class must not be registered under the same name too, for that
would replace the YAML's entry at the first import.
"""

import asyncio
import json
import random

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput

from .tools import call_tool, load_tool
from .tree import Segment, Settings, Tree

_trees: dict = {}  # uid -> the tree's task, and how many sessions have asked for it


class ArpoTreeLoop(AgentLoopBase):
    def __init__(self, *args, initial_rollouts, beam_size, branch_probability, entropy_weight, call_limit, tools,
                 attempts=3, timeout=120.0, seed=1, trace=None, **kwargs):
        # The builder chosen by a model's type wants its chat marks; rows here are tokens, none is merged.
        super().__init__(*args, **{**kwargs, "hf_model_type": None})
        self.settings = dict(initial_rollouts=initial_rollouts, beam_size=beam_size, call_limit=call_limit,
                             branch_probability=branch_probability, entropy_weight=entropy_weight)
        self.tools = {tag: load_tool(name) for tag, name in tools.items()}
        self.attempts, self.timeout, self.seed, self.trace = attempts, timeout, seed, trace

    async def run(self, sampling_params, *, uid, session_id, raw_prompt, **rest):
        key, n = str(uid), rest.get("__rollout_n__") or self.rollout_config.n
        if key not in _trees:
            grow = self._validate if self._validates(sampling_params) else self._grow
            _trees[key] = [asyncio.ensure_future(grow(key, dict(sampling_params), list(raw_prompt), n)), 0]
        entry = _trees[key]
        entry[1] += 1
        try:
            rows = await asyncio.shield(entry[0])
        finally:
            if entry[1] >= n and entry[0].done():
                _trees.pop(key, None)
        return rows[session_id % len(rows)]

    def _validates(self, params) -> bool:
        """A session is not told; the sampling of validation tells."""
        val = self.rollout_config.val_kwargs
        own = (self.rollout_config.temperature, self.rollout_config.top_p)
        return (params.get("temperature"), params.get("top_p")) == (val.temperature, val.top_p) != own

    async def _validate(self, uid, params, messages, n):
        """Validation does not branch: n rows, each for itself."""
        return await self._grow(uid, params, messages, n, initial_rollouts=n, beam_size=1)

    async def _grow(self, uid, params, messages, n, **changes):
        settings = Settings(n=n, response_length=self.rollout_config.response_length, **{**self.settings, **changes})
        draws = random.Random(f"{self.seed}:{uid}")
        prompt = await self.ct_build_initial_tokens(messages)
        decode = lambda ids: self.tokenizer.decode(ids, skip_special_tokens=True)
        tree = Tree(settings, decode, len(self.tokenizer), self.tokenizer.eos_token_id)
        stops = [f"</{tag}>" for tag in self.tools]
        steps, measure = [], set()

        async def write(number):
            row = tree.rows[number]
            # One id for all rows of a tree: they go to the server that remembers their beginning.
            out = await self.server_manager.generate(
                request_id=uid, prompt_ids=prompt + row.ids,
                sampling_params={**params, "max_tokens": tree.room, "logprobs": True, "stop": stops,
                                 "include_stop_str_in_output": True})
            extra = out.extra_fields or {}
            steps.append(extra.get("global_steps") or 0)
            tops = extra.get("top_logprobs") or []
            measure.add("top log-probabilities" if tops else "surprisal")
            text = decode(out.token_ids)
            stop = next((s for s in stops if text.rstrip().endswith(s)), None)
            ended = out.token_ids and out.token_ids[-1] == self.tokenizer.eos_token_id
            finish = "stop" if stop else "end" if ended or len(out.token_ids) < tree.room else "length"
            return Segment(list(out.token_ids), list(out.log_probs or [0.0] * len(out.token_ids)), tops, finish, stop)

        async def tool(number, tag, given):
            text = await call_tool(self.tools[tag], tag, given, self.attempts, self.timeout)
            block = f" <result>\n{text}\n</result>"
            tree.answer(number, self.tokenizer.encode(block, add_special_tokens=False))

        while tree.active:
            segments = await asyncio.gather(*[write(number) for number in tree.active])
            fates = [tree.receive(number, segment) for number, segment in zip(tree.active, segments)]
            await asyncio.gather(*[tool(number, *fate[1:]) for number, fate in zip(tree.active, fates)
                                   if fate[0] == "call"])
            kept = tree.survive([r for r, fate in zip(tree.active, fates) if fate[0] != "end"])
            born = tree.branch(kept, draws.random) if kept else tree.refill()
            tree.next_round(kept + born)
        if self.trace:
            line = dict(uid=uid, parents=[r.parent for r in tree.rows], kinds=[r.kind for r in tree.rows],
                        tokens=[len(r.ids) for r in tree.rows], entropy=sorted(measure))
            with open(self.trace, "a") as file:
                file.write(json.dumps(line) + "\n")
        limit = settings.response_length
        return [
            AgentLoopOutput(
                prompt_ids=list(prompt), response_ids=row.ids[:limit], response_mask=row.mask[:limit],
                response_logprobs=row.logprobs[:limit], num_turns=row.turns, metrics={},
                extra_fields={"arpo_parent": row.parent, "arpo_calls": row.calls,
                              "min_global_steps": min(steps), "max_global_steps": max(steps)})
            for row in tree.rows[:n]]
