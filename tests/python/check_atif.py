"""Harbor's own model of ATIF reads what saveAtif wrote: prints how many trajectories and steps."""

import json
import sys

from harbor.models.trajectories import Trajectory

with open(sys.argv[1]) as lines:
    read = [Trajectory.model_validate_json(line) for line in lines]
ids = sum(len(step.metrics.completion_token_ids) for one in read for step in one.steps if step.metrics)
print(json.dumps({"trajectories": len(read), "steps": sum(len(one.steps) for one in read), "ids": ids}))
