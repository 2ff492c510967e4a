"""`ray start`, with patience."""

import patient_ray  # noqa: F401  before Ray's own command
from ray.scripts.scripts import main

main()
