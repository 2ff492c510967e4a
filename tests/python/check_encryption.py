"""A kernel behind jupyter_client's transport_encryption="required": what runs, and what a client without keys hears."""

import json
import os
import stat
import sys

import zmq
from jupyter_client import BlockingKernelClient, KernelManager

manager = KernelManager(kernel_name=sys.argv[1], transport_encryption="required")
manager.start_kernel()
try:
    with open(manager.connection_file) as file:
        connection = json.load(file)
    keys = [name for name in connection if name.startswith("curve_")]
    assert keys == ["curve_publickey", "curve_secretkey"], keys
    assert stat.S_IMODE(os.stat(manager.connection_file).st_mode) == 0o600

    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    info = client.kernel_info(reply=True, timeout=60)["content"]
    printed = []
    reply = client.execute_interactive(
        "console.log(6 * 7)",
        timeout=60,
        output_hook=lambda message: printed.append(message["content"].get("text")),
    )
    assert reply["content"]["status"] == "ok", reply
    assert "42\n" in printed, printed
    assert client.hb_channel.is_beating()
    client.stop_channels()

    stranger = BlockingKernelClient()
    stranger.load_connection_info({k: v for k, v in connection.items() if k not in keys})
    stranger.start_channels()
    # A refused handshake leaves its socket without a peer, where sending waits for ever.
    stranger.shell_channel.socket.setsockopt(zmq.SNDTIMEO, 5000)
    try:
        stranger.wait_for_ready(timeout=5)
        raise AssertionError("a client without keys was answered")
    except (RuntimeError, zmq.Again):
        heard = "nothing"
    stranger.stop_channels()
finally:
    manager.shutdown_kernel(now=True)
print(json.dumps({**{k: info[k] for k in ("protocol_version", "supported_features")}, "stranger": heard}))
