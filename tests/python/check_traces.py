"""Reads a traces.jsonl with verifiers and prints what it says of every branch: python check_traces.py FILE"""
import json
import sys

from verifiers.v1.episode import WireEpisode
from verifiers.v1.trace import WireTrace

rows = []
for line in open(sys.argv[1]):
    episode = WireEpisode.model_validate_json(line)
    for trace, plain in zip(episode.traces, json.loads(line)["traces"]):
        assert trace.version == 1 and trace.ok and WireTrace.model_validate(plain).id == trace.id
        for branch in trace.branches:
            rows.append({
                "ids": branch.token_ids,
                "mask": branch.sampled_mask,
                "logprobs": branch.logprobs,
                "entropies": branch.entropies,
                "advantages": branch.advantages,
                "reward": trace.reward,
            })
print(json.dumps(rows))
