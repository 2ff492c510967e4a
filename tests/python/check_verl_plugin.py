"""arpo_verl held against the golden cases: tree, loss, reward, calculator. Needs torch alone."""

import asyncio
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import torch

root = Path(sys.argv[1])
sys.path.insert(0, str(root / "data/verl/arpo_verl"))
sys.modules["arpo_verl"] = type(sys)("arpo_verl")  # its parts, without what registers them in verl
sys.modules["arpo_verl"].__path__ = [str(root / "data/verl/arpo_verl")]
from arpo_verl.draws import Stream  # noqa: E402
from arpo_verl.losses import aepo_policy_loss  # noqa: E402
from arpo_verl.probe import monitor  # noqa: E402
from arpo_verl.reward import check_format, deep_research  # noqa: E402
from arpo_verl.tools import calculator  # noqa: E402
from arpo_verl.tree import Segment, Settings, Tree  # noqa: E402

vectors = lambda name: json.loads((root / f"tests/golden/cases/{name}.json").read_text())["cases"]
done = {}


def near(a, b, what):
    assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12), f"{what}: {a} against {b}"


def loss_cases():
    for i, case in enumerate(vectors("aepo_policy_loss")):
        given, wanted = case["input"], case["expected"]
        if given["loss_agg_mode"] != "token-mean" or wanted["pg_loss"] == "NaN":
            continue
        tensor = lambda name: torch.tensor(given[name], dtype=torch.float64)
        logp, mask = tensor("log_prob").requires_grad_(), tensor("response_mask")
        if mask.sum() == 0:
            continue
        low = given["clip_ratio_low"] if given["clip_ratio_low"] is not None else given["clip_ratio"]
        high = given["clip_ratio_high"] if given["clip_ratio_high"] is not None else given["clip_ratio"]
        losses, metrics = aepo_policy_loss(
            tensor("old_log_prob"), logp, tensor("advantages"), mask, low, high, given["clip_ratio_c"],
            clipping=given["enable_entropy_balanced_clipping"],
            entropies=tensor("entropy") if given["entropy"] and given["enable_entropy_balanced_advantage"] else None,
        )
        loss = (losses * mask).sum() / (mask.sum() + 1e-8)
        loss.backward()
        near(loss.item(), wanted["pg_loss"], f"loss {i}")
        for name in ("ppo_kl",):
            assert abs(metrics[name].item() - wanted[name]) < 1e-6, (i, name, metrics[name].item(), wanted[name])
        gradient = torch.tensor(wanted["grad_log_prob"], dtype=torch.float64)
        assert torch.allclose(logp.grad, gradient, rtol=1e-9, atol=1e-12), f"gradient {i}"
        done["loss"] = done.get("loss", 0) + 1


def reward_cases():
    for i, case in enumerate(vectors("reward_deep_research")):
        given, wanted = case["input"], case["expected"]
        got = deep_research(given["response"], given["ground_truth"], given.get("eos_token"))
        near(got["score"], wanted["score"], f"reward {i} of {given['response']!r}")
        assert (check_format(given["response"]) is None) == wanted["format_valid"], f"format {i}"
        done["reward"] = done.get("reward", 0) + 1


def answer(table, calls, tag, given, attempts):
    entry = table.get(tag, {}).get(given)
    for _ in range(attempts):
        if entry is None:
            text = f"res({tag}:{given})"[:40]
        elif isinstance(entry, str):
            text = entry
        elif "error" in entry:
            text = ""
        else:
            call = calls.get((tag, given), 0)
            calls[(tag, given)] = call + 1
            text = entry["attempts"][call] if call < len(entry["attempts"]) else ""
        if text:
            return text
    return f"Tool({tag}) returned empty output."


def segment(said):
    ids = [ord(c) for c in said["text"]]
    finish = "stop" if said["stop"] else "end" if said["finish"] == "stop" else "length"
    return Segment(ids, [0.0] * len(ids), said["logprobs"], finish, said["stop"])


def block(text):
    return [ord(c) for c in f" <result>\n{text}\n</result>"]


def probed(given, sample, settings, decode):
    """AEPO's look ahead at one prompt."""
    script = iter(given["probe_scripts"][sample])
    lone = dict(text=chr(given["eos_id"]), finish="stop", stop=None, logprobs=[[0.0]])

    async def generate(name, ids, room):
        assert room >= 1
        return segment(given["root_segments"][sample] if name == "root" else next(script, lone))

    async def call(tag, text):
        return block(answer(given["tool_table"], {}, tag, text, given["config"]["retry_count"]))

    one = Tree(replace(settings, n=1, initial_rollouts=1), decode, given["vocab_size"], given["eos_id"])
    before = len(given["prompts"][sample])
    return asyncio.run(monitor(one, settings.n, 50, before, given["max_model_len"], generate, call))


def rollout_cases(name, rule):
    for i, case in enumerate(vectors(name)):
        given, wanted = case["input"], case["expected"]
        config = given["config"]
        names = ("n", "initial_rollouts", "beam_size", "branch_probability", "entropy_weight", "response_length",
                 "call_limit")
        settings = Settings(**{key: config[key] for key in names}, rule=rule)
        # The decoder leaves special tokens out, as rollouts do.
        decode = lambda ids: "".join(chr(t) for t in ids if t not in (given["eos_id"], given["pad_id"]))
        trees, numbers, turns, calls = [], {}, {}, {}
        draws = iter(given["draws"])
        used = 0

        def draw(*_):
            nonlocal used
            used += 1
            return next(draws)

        rows = []

        def enter(sample, local):
            row = trees[sample].rows[local]
            numbers[(sample, local)] = len(rows)
            rows.append(dict(row=len(rows), sample=sample, created_before_round=row.created, kind=row.kind,
                             prefix_len=row.prefix))

        starts = []
        for sample in range(len(given["prompts"])):
            own = settings
            if config["enable_dynamic_rollouts"] and settings.n > 1:
                starts.append(probed(given, sample, settings, decode)["initialRollouts"])
                own = replace(settings, initial_rollouts=starts[-1])
            trees.append(Tree(own, decode, given["vocab_size"], given["eos_id"]))
            for local in trees[sample].active:
                enter(sample, local)
        made = []
        while any(tree.active for tree in trees):
            # The reference goes over the whole batch in rounds, with one limit for all.
            room = max(tree.room for tree in trees if tree.active)
            active = sorted(((s, r) for s, tree in enumerate(trees) for r in tree.active), key=numbers.get)
            fates = {}
            for key in active:
                number, turn = numbers[key], turns.get(key, 0)
                turns[key] = turn + 1
                script = given["scripts"][number] if number < len(given["scripts"]) else []
                said = script[turn] if turn < len(script) else dict(text=chr(given["eos_id"]), finish="stop", stop=None,
                                                                   logprobs=[[0.0]])
                fates[key] = trees[key[0]].receive(key[1], segment(said))
            entropies = [trees[s].rows[r].entropy for s, r in active]
            made.append(dict(rows=[numbers[key] for key in active], max_tokens=room, entropies=entropies))
            for sample, local in active:
                fate = fates[(sample, local)]
                if fate[0] == "call":
                    text = answer(given["tool_table"], calls, fate[1], fate[2], config["retry_count"])
                    trees[sample].answer(local, block(text))
            order, kept = [], {}
            for sample, local in active:
                if fates[(sample, local)][0] != "end" and trees[sample].survive([local]):
                    kept.setdefault(sample, []).append(local)
            born = {}
            for sample in kept:
                born[sample] = trees[sample].branch(kept[sample], draw)
                order += [(sample, local) for local in born[sample]]
            for sample, tree in enumerate(trees):
                if sample not in kept:
                    born[sample] = tree.refill()
                    order += [(sample, local) for local in born[sample]]
            for sample, local in order:
                enter(sample, local)
            counts = [tree.consecutive for tree in trees]
            for sample, tree in enumerate(trees):
                tree.next_round(kept.get(sample, []) + born[sample])
                # Over a batch a prompt that gained nothing starts again, where another gained something.
                if not born[sample] and any(born.values()):
                    tree.consecutive = 0
                else:
                    assert tree.consecutive == counts[sample] + bool(born[sample])
        if starts:
            assert starts == wanted["initial_rollouts_list"], f"budgets of {name} {i}"
        assert rows == wanted["rows"], f"rows of {name} {i}"
        assert used == wanted["draws_used"], f"draws of {name} {i}"
        for got, asked in zip(made, wanted["generate_calls"], strict=True):
            assert (got["rows"], got["max_tokens"]) == (asked["rows"], asked["max_tokens"]), f"calls of {name} {i}"
            for a, b in zip(got["entropies"], asked["entropies"], strict=True):
                near(a, b, f"entropy of {name} {i}")
        done[name] = done.get(name, 0) + 1


def streams():
    """Draws that arpo-lab made."""
    for seed, names, place, wanted in json.loads(sys.argv[2]):
        stream = Stream.of(seed)
        for name in names:
            stream = stream.split(name)
        assert stream.at(place) == wanted, (seed, names, place)
        done["draws"] = done.get("draws", 0) + 1


def sums():
    for text, wanted in {"2+2": "4", "2 - -3": "5", "-2^2": "-4", "2^-2": "0.25", "7//2": "3", "-7//2": "-4",
                         "-7%3": "2", "1/3": "0.3333333333333333", "0.1+0.2": "0.3", "2 × 3 ÷ 4": "1.5"}.items():
        assert calculator(text) == wanted, (text, calculator(text))
    for text in ("9^99^9", "__import__('os')", "2 3", ""):
        try:
            calculator(text)
        except Exception:
            continue
        raise AssertionError(f"{text} was not refused")
    done["sums"] = 1


loss_cases(), reward_cases(), sums(), streams()
for kind, rule in dict(arpo="arpo-code", aepo_static="aepo-code", aepo_dynamic="aepo-code").items():
    rollout_cases(f"rollout_{kind}", rule)
print(json.dumps(done))
