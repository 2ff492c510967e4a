"""A CPU as a platform of verl 0.9.1, and the rollout `hf_cpu` that samples there, so that its training runs
without a GPU. Loaded by VERL_USE_EXTERNAL_MODULES, chosen by VERL_PLATFORM=cpu and rollout.name=hf_cpu."""

import contextlib
import importlib.abc
import importlib.util
import sys
import types

import patient_ray  # noqa: F401
import torch
import torch.distributed
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry


class CpuModule(types.ModuleType):
    """torch.cpu, with the rest of torch.cuda's names as nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if hasattr(torch.cpu, name):
            return getattr(torch.cpu, name)
        if "memory_" in name:
            return lambda *a, **k: 0
        known = dict(mem_get_info=(8 << 30, 16 << 30), current_device=0, get_device_name="CPU", device_count=1)
        if name == "get_rng_state":
            return lambda *a, **k: torch.get_rng_state()
        if name == "set_rng_state":
            return lambda state, *a, **k: torch.set_rng_state(state)
        return lambda *a, **k: known.get(name)


cpu = CpuModule("torch.cpu_for_verl")
nothing = lambda self, *a, **k: None


@PlatformRegistry.register(platform="cpu")
class PlatformCPU(PlatformBase):
    device_name = vendor_name = property(lambda self: "cpu")
    device_module = property(lambda self: cpu)
    is_available = lambda self: True
    current_device = lambda self: torch.device("cpu")
    device_count = lambda self: 1
    manual_seed = manual_seed_all = lambda self, seed: torch.manual_seed(seed)
    get_device_capability = lambda self, index=0: (None, None)
    communication_backend_name = lambda self: "gloo"
    visible_devices_envvar = lambda self: "CUDA_VISIBLE_DEVICES"
    ray_resource_name = lambda self: "GPU"
    ray_noset_envvars = lambda self: []
    is_ipc_supported = lambda self: False
    set_device = synchronize = set_allocator_settings = empty_cache = nothing
    profiler_start = profiler_stop = cudart = nothing

    @contextlib.contextmanager
    def nvtx_range(self, msg):
        yield


def add_adapter(module):
    module._ROLLOUT_REGISTRY[("hf_cpu", "async")] = "cpu_rollout.CpuAdapter"


def add_replica(module):
    def load():
        from cpu_rollout import CpuReplica

        return CpuReplica

    module.RolloutReplicaRegistry.register("hf_cpu", load)


class Afterwards(importlib.abc.MetaPathFinder):
    """verl imports this file while it is itself being imported: its registries are filled once they are there."""

    then = {"verl.workers.rollout.base": add_adapter, "verl.workers.rollout.replica": add_replica}

    def find_spec(self, name, path, target=None):
        if name not in self.then:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            self.then[name](module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Afterwards())

# verl asks for "cpu:gloo,<device>:<backend>", which names the CPU twice here.
_init = torch.distributed.init_process_group


def init_process_group(backend=None, *args, device_id=None, **kwargs):
    return _init("gloo" if isinstance(backend, str) and "," in backend else backend, *args, **kwargs)


torch.distributed.init_process_group = init_process_group
