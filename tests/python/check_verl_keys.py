"""Composes verl's own configuration with the overrides of job folders; every key must be known there.

Its configuration is YAML and hydra alone: verl itself, and torch, are not imported. Keys that are known but never
read are no better than unknown ones: each must be named where verl computes, and none may be of the old rewards."""

import glob
import importlib.util
import os
import re
import sys

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

root = importlib.util.find_spec("verl").submodule_search_locations[0]
named = set()
for path in glob.glob(f"{root}/**/*.py", recursive=True):
    if "/config/" not in path:
        with open(path, errors="replace") as file:
            named.update(re.findall(r"\w+", file.read()))
old = set(OmegaConf.load(f"{root}/trainer/config/legacy_reward_impl.yaml"))


def check_read(line):
    path = line.split("=")[0].lstrip("+~").split(".")
    assert path[-1] in named, f"{line} is taken and never read"
    assert path[0] not in old, f"{line} is taken and not read by main_ppo"


for lure in ("actor_rollout_ref.actor.grad_clip=1", "custom_reward_function.path=x.py"):
    try:
        check_read(lure)
    except AssertionError:
        continue
    raise AssertionError(f"{lure} must be found out")
with initialize_config_dir(config_dir=os.path.join(root, "trainer", "config"), version_base=None):
    for folder in sys.argv[1:]:
        lines = [line.replace("@JOB@", folder) for line in open(os.path.join(folder, "overrides.txt")).read().split("\n")]
        for line in lines:
            if line:
                check_read(line)
        config = compose("ppo_trainer", overrides=[line for line in lines if line])
        assert config.actor_rollout_ref.rollout.agent.default_agent_loop == "arpo_tree"
        assert config.reward.custom_reward_function.path.endswith("reward.py")
        print(folder, len(lines) - 1, config.actor_rollout_ref.actor.policy_loss.loss_mode)
