"""Ray gives a node 30 s to appear, a number in its source, which a busy machine does not keep."""

import time

from ray._private import services

_ask = services.get_node


def get_node(*args):
    for _ in range(600):
        try:
            return _ask(*args)
        except RuntimeError:
            time.sleep(1)
    return _ask(*args)


services.get_node = get_node
