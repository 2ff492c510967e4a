"""SkyRL's Tinker server for tests: a model's folder in, the address out, until standard input ends."""

import argparse
import os
import socket
import sys
import threading

import uvicorn
from skyrl.tinker import api
from skyrl.tinker.config import EngineConfig, config_to_argv


def engine_command(_, config):
    """SkyRL starts its engine by rewriting its own `uv run`; here it is started as it is."""
    return [sys.executable, "-m", "skyrl.tinker.engine", *config_to_argv(config)]


def end_with_input(server):
    sys.stdin.read()
    server.should_exit = True


parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("folder")
given = parser.parse_args()

api._build_uv_run_cmd_engine = engine_command
api.app.state.engine_config = EngineConfig(
    base_model=given.model,
    backend="jax",
    backend_config={
        "max_lora_adapters": 4,
        "max_lora_rank": 8,
        "sample_max_num_sequences": 8,
        "train_micro_batch_size": 8,
    },
    checkpoints_base=os.path.join(given.folder, "checkpoints"),
    database_url=f"sqlite:///{given.folder}/tinker.db",
)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
server = uvicorn.Server(uvicorn.Config(api.app, log_level="warning"))
threading.Thread(target=end_with_input, args=(server,), daemon=True).start()
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
# Whoever reads the address reads no more, and the engine says much.
os.dup2(2, 1)
server.run(sockets=[listener])
