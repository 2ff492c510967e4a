"""A server of fastmcp, for tests/python/mcp.slow.test.ts: python mcp_server.py [PORT]; by standard streams without one."""
import sys

from fastmcp import FastMCP

server = FastMCP("sums")


@server.tool
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b


if len(sys.argv) > 1:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
