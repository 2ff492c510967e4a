"""Composes verl's own configuration with the overrides of job folders; every key must be known there.

Its configuration is YAML and hydra alone: verl itself, and torch, are not imported."""

import importlib.util
import os
import sys

from hydra import compose, initialize_config_dir

root = importlib.util.find_spec("verl").submodule_search_locations[0]
with initialize_config_dir(config_dir=os.path.join(root, "trainer", "config"), version_base=None):
    for folder in sys.argv[1:]:
        lines = [line.replace("@JOB@", folder) for line in open(os.path.join(folder, "overrides.txt")).read().split("\n")]
        config = compose("ppo_trainer", overrides=[line for line in lines if line])
        assert config.actor_rollout_ref.rollout.agent.default_agent_loop == "arpo_tree"
        assert config.reward.custom_reward_function.path.endswith("reward.py")
        print(folder, len(lines) - 1, config.actor_rollout_ref.actor.policy_loss.loss_mode)
