"""Ray gives a node 30 s to appear, a number in its source, which a busy machine does not keep."""

import time

import psutil
from ray._private import services

_ask = services.get_node


def _is_gone():
    """Whether the node's own process has ended, for which there is nothing to wait."""
    children = psutil.Process().children()
    return any(child.name() == "raylet" and child.status() == psutil.STATUS_ZOMBIE for child in children)


def get_node(*args):
    for _ in range(600):
        try:
            return _ask(*args)
        except RuntimeError:
            if _is_gone():
                raise
            time.sleep(1)
    return _ask(*args)


services.get_node = get_node
