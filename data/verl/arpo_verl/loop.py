"""ARPO's tree as an agent loop of verl 0.9.1; no class of verl is overridden.

verl's V1 worker runs the n sessions of a prompt in one process (agent_loop_tq.py), each as
run(uid=…, session_id=i). The first of a uid grows the whole tree; each then takes its own row of it.
All settings come from agent_loop.yaml: the class must not be registered under the same name too, for that
would replace the YAML's entry at the first import. verl hands every loop `tools` of its own, whatever the YAML
says: ours are `call_tools`.
"""

import asyncio
import json
import os
import socket
import time
from dataclasses import replace
from functools import reduce

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput

from .sidecar import Sidecar
from .draws import Stream
from .probe import monitor
from .tools import call_tool, load_tool
from .tree import Segment, Settings, Tree

_trees: dict = {}  # uid -> the tree's task, and how many sessions have asked for it


def plain(value):
    """Lists of a parquet file come as arrays."""
    return value.tolist() if hasattr(value, "tolist") else value


def reward_info(outcomes, number: int) -> dict:
    """What verl keeps beside a score that the loop has given."""
    if not outcomes:
        return {}
    parts = outcomes[number].get("parts") or {}
    return {"reward_extra_info": {"acc": outcomes[number]["score"], **parts}}


class ArpoTreeLoop(AgentLoopBase):
    def __init__(self, *args, initial_rollouts, beam_size, branch_probability, entropy_weight, call_limit, call_tools,
                 rule="arpo-code", dynamic=False, root_tokens=50, attempts=3, timeout=120.0, seed=1, seeded=False,
                 trees=None, validates=False, sidecar=None, scores=False, **kwargs):
        # The builder chosen by a model's type wants its chat marks; rows here are tokens, none is merged.
        super().__init__(*args, **{**kwargs, "hf_model_type": None})
        self.settings = dict(initial_rollouts=initial_rollouts, beam_size=beam_size, call_limit=call_limit,
                             branch_probability=branch_probability, entropy_weight=entropy_weight, rule=rule)
        self.dynamic, self.root_tokens = dynamic and not validates, root_tokens
        # Tools that are `node`, and the reward where `scores` says so, run in a Node process of the folder `sidecar`.
        self.tools = {tag: None if name == "node" else load_tool(name) for tag, name in call_tools.items()}
        self.sidecar, self.scores = sidecar, scores
        self.attempts, self.timeout, self.seed = attempts, timeout, seed
        self.seeded, self.trees, self.validates = seeded, trees, validates

    async def run(self, sampling_params, *, uid, session_id, raw_prompt, **rest):
        # A session is told neither how many there are nor whether it validates: validation has a loop of its own.
        key, n = str(uid), self.rollout_config.val_kwargs.n if self.validates else self.rollout_config.n
        if key not in _trees:
            grow = self._grow(key, dict(sampling_params), list(raw_prompt), n, rest)
            _trees[key] = [asyncio.ensure_future(grow), 0]
        entry = _trees[key]
        entry[1] += 1
        try:
            rows = await asyncio.shield(entry[0])
        finally:
            if entry[1] >= n and entry[0].done():
                _trees.pop(key, None)
        return rows[session_id % len(rows)]

    async def _grow(self, uid, params, messages, n, task):
        began = time.time()
        # Validation does not branch: n rows, each for itself.
        changes = dict(initial_rollouts=n, beam_size=1) if self.validates else {}
        settings = Settings(n=n, response_length=self.rollout_config.response_length, **{**self.settings, **changes})
        step, index = (int(task.get(name, 0)) for name in ("global_steps", "index"))
        # One number says all draws of a tree: arpo-lab can make it again, or another one from it.
        of_step = Stream.of(self.seed).split("validation" if self.validates else "rollout").split(step)
        seed = int(of_step.at(index) * 2**48)
        draws = Stream.of(seed).split(0)
        streams: dict = {}
        prompt = await self.ct_build_initial_tokens(messages)
        decode = lambda ids: self.tokenizer.decode(ids, skip_special_tokens=True)
        grown = lambda settings: Tree(settings, decode, len(self.tokenizer), self.tokenizer.eos_token_id)
        stops = [f"</{tag}>" for tag in self.tools]
        steps, measure = [], set()

        async def generate(name, ids, room):
            own = dict(max_tokens=room, logprobs=True, stop=stops, include_stop_str_in_output=True)
            if self.seeded:  # vLLM samples rows with seeds one by one
                stream = streams.setdefault(name, reduce(Stream.split, name, draws))
                own["seed"] = int(stream.uniform() * 2**31)
            # One id for all rows of a tree: they go to the server that remembers their beginning.
            out = await self.server_manager.generate(request_id=uid, prompt_ids=prompt + ids,
                                                     sampling_params={**params, **own})
            extra = out.extra_fields or {}
            steps.append(extra.get("global_steps") or 0)
            tops = extra.get("top_logprobs") or []
            measure.add("top log-probabilities" if tops else "surprisal")
            text = decode(out.token_ids)
            stop = next((s for s in stops if text.rstrip().endswith(s)), None)
            ended = out.token_ids and out.token_ids[-1] == self.tokenizer.eos_token_id
            finish = "stop" if stop else "end" if ended or len(out.token_ids) < room else "length"
            return Segment(list(out.token_ids), list(out.log_probs or [0.0] * len(out.token_ids)), tops, finish, stop)

        async def call(tag, given):
            if self.tools[tag] is None:  # with its own attempts and its own patience
                said = await Sidecar.of(self.sidecar).ask(do="call", tag=tag, input=given)
                text, ok, retries = said["text"], said["ok"], said["retries"]
            else:
                text, ok = await call_tool(self.tools[tag], tag, given, self.attempts, self.timeout)
                retries = 0
            block = self.tokenizer.encode(f" <result>\n{text}\n</result>", add_special_tokens=False)
            return block, dict(tag=tag, input=given, text=text, ok=ok, retries=retries)

        async def tool(number, tag, given):
            tree.answer(number, *await call(tag, given))

        async def block(tag, given):
            return (await call(tag, given))[0]

        monitored = None
        if self.dynamic and n > 1:
            one = grown(replace(settings, n=1, initial_rollouts=1))
            context = self.rollout_config.max_model_len or self.rollout_config.prompt_length + settings.response_length
            monitored = await monitor(one, n, self.root_tokens, len(prompt), context,
                                      lambda name, ids, room: generate((name,), ids, room), block)
            settings = replace(settings, initial_rollouts=monitored["initialRollouts"])
        tree = grown(settings)
        while tree.active:
            segments = await asyncio.gather(*[
                generate(("sample", number), tree.rows[number].ids, tree.room) for number in tree.active])
            fates = [tree.receive(number, segment) for number, segment in zip(tree.active, segments)]
            await asyncio.gather(*[tool(number, *fate[1:]) for number, fate in zip(tree.active, fates)
                                   if fate[0] == "call"])
            kept = tree.survive([r for r, fate in zip(tree.active, fates) if fate[0] != "end"])
            draw = lambda row, round, attempt: draws.split("branch").split(row).split(round).at(attempt)
            born = tree.branch(kept, draw) if kept else tree.refill()
            tree.next_round(kept + born)
        of_task = task.get("extra_info") or {}
        record = dict(
            uid=uid, step=step, index=index, seed=seed, validates=self.validates, settings=vars(settings),
            measure=sorted(measure), monitor=monitored, seconds=round(time.time() - began, 3),
            messages=[dict(m) for m in messages],
            ground_truth=plain((task.get("reward_model") or {}).get("ground_truth")),
            data_source=task.get("data_source"), id=of_task.get("id"), extra=of_task.get("extra"),
            eos=self.tokenizer.eos_token_id, pad=self.tokenizer.pad_token_id,
            prompt=dict(text=self.tokenizer.decode(prompt), tokens=list(prompt)), **tree.record())
        outcomes = None
        if self.scores:
            # Whole trees go over, so that a reward sees what it sees here, the other rows of its tree too.
            outcomes = (await Sidecar.of(self.sidecar).ask(do="score", tree=record))["outcomes"]
            record["outcomes"] = outcomes
        if self.trees:
            self._record(record)
        limit = settings.response_length
        output = lambda number, row: AgentLoopOutput(
            prompt_ids=list(prompt), response_ids=row.ids[:limit], response_mask=row.mask[:limit],
            response_logprobs=row.logprobs[:limit], num_turns=row.turns, metrics={},
            extra_fields={"arpo_parent": row.parent, "arpo_calls": row.calls, "min_global_steps": min(steps),
                          "max_global_steps": max(steps), **reward_info(outcomes, number)},
            **(dict(reward_score=outcomes[number]["score"]) if outcomes else {}))
        return [output(number, row) for number, row in enumerate(tree.rows[:n])]

    def _record(self, tree: dict) -> None:
        """A line per tree, in a file that no other process writes."""
        os.makedirs(self.trees, exist_ok=True)
        path = os.path.join(self.trees, f"{socket.gethostname()}-{os.getpid()}.jsonl")
        with open(path, "a") as file:
            file.write(json.dumps(tree) + "\n")
