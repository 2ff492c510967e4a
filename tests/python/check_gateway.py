"""jupyter_server's own gateway client drives kernels on our server.

usage: check_gateway.py URL TOKEN CULLING_URL CULLING_TOKEN
"""

import asyncio
import functools
import sys

import websocket
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import (
    GatewayKernelClient,
    GatewayKernelSpecManager,
    GatewayMappingKernelManager,
)
from jupyter_server.serverapp import ServerApp

create_connection = websocket.create_connection
url, token, culling, culling_token = sys.argv[1:]


def connect(base, secret):
    GatewayClient.clear_instance()
    client = GatewayClient.instance()
    client.url, client.auth_token = base.rstrip("/"), secret
    client.init_connection_args()
    # It sends the token with requests, but not with the WebSocket of this class.
    websocket.create_connection = functools.partial(
        create_connection, header=[f"Authorization: token {secret}"]
    )


async def execute(client, code, started=None):
    """What a cell prints and gives, and its reply; `started` is set when it begins."""
    request = client.execute(code)
    outputs = []
    while True:
        message = await client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_input" and started is not None:
            started.set()
        if kind == "stream":
            outputs.append(content["text"])
        elif kind == "execute_result":
            outputs.append(content["data"]["text/plain"])
        elif kind == "error":
            outputs.append(content["ename"])
        elif kind == "status" and content["execution_state"] == "idle":
            break
    reply = await client.get_shell_msg(timeout=60)
    while reply["parent_header"].get("msg_id") != request:
        reply = await client.get_shell_msg(timeout=60)
    return outputs, reply["content"]


async def open_client(kernel_id):
    client = GatewayKernelClient(kernel_id=kernel_id)
    await client.start_channels()
    return client


async def main():
    connect(url, token)
    app = ServerApp()
    app.kernel_manager = GatewayMappingKernelManager()
    specs = GatewayKernelSpecManager(parent=app)
    found = await specs.get_all_specs()
    assert {"arpo-lab", "arpo-lab-js"} <= set(found), found
    assert app.kernel_manager.default_kernel_name == "arpo-lab"
    spec = await specs.get_kernel_spec("arpo-lab")
    assert spec["spec"]["language"] == "typescript", spec
    logo = await specs.get_kernel_spec_resource("arpo-lab", "logo-svg.svg")
    assert b"<svg" in (logo if isinstance(logo, bytes) else logo.encode()), logo

    manager = GatewayMappingKernelManager()
    kernel_id = await manager.start_kernel(kernel_name="arpo-lab")
    assert [m["id"] for m in await manager.list_kernels()] == [kernel_id]
    client = await open_client(kernel_id)
    outputs, reply = await execute(client, "const a: number = 41; console.log('printed'); a + 1")
    assert "".join(outputs) == "printed\n42" and reply["status"] == "ok", (outputs, reply)
    outputs, reply = await execute(client, "throw new RangeError('x')")
    assert outputs == ["RangeError"] and reply["status"] == "error", (outputs, reply)

    started = asyncio.Event()
    running = asyncio.create_task(execute(client, "for (;;) {}", started))
    await started.wait()
    await asyncio.sleep(1)
    assert [m["execution_state"] for m in await manager.list_kernels()] == ["busy"]
    await manager.interrupt_kernel(kernel_id)
    outputs, reply = await running
    assert reply["status"] in ("error", "aborted"), reply
    outputs, _ = await execute(client, "a")
    assert outputs == ["41"], outputs

    await manager.restart_kernel(kernel_id)
    client.stop_channels()
    client = await open_client(kernel_id)
    outputs, reply = await execute(client, "typeof globalThis.a")
    assert outputs == ["'undefined'"] or outputs == ['"undefined"'] or outputs == ["undefined"], outputs
    client.stop_channels()
    await manager.shutdown_kernel(kernel_id)
    assert await manager.list_kernels() == []

    # A kernel that the server has ended by itself is gone here too.
    connect(culling, culling_token)
    manager = GatewayMappingKernelManager()
    kernel_id = await manager.start_kernel(kernel_name="arpo-lab-js")
    for _ in range(300):
        if await manager.list_kernels() == []:
            break
        await asyncio.sleep(0.2)
    assert await manager.list_kernels() == []
    assert kernel_id not in manager, "the manager forgets it"
    print("gateway ok")


asyncio.run(main())
