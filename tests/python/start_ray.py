"""`ray start`, with patience: Ray itself gives a node 30 s to appear, which a busy machine does not keep."""

import time

from ray._private import services

ask = services.get_node


def get_node(*args):
    for _ in range(600):
        try:
            return ask(*args)
        except RuntimeError:
            time.sleep(1)
    return ask(*args)


services.get_node = get_node

from ray.scripts.scripts import main  # noqa: E402  only now: it must find the patient one

main()
