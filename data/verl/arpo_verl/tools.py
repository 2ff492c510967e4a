"""Tools by name, and what a trajectory is told of them."""

import ast
import asyncio
import importlib
import operator
from fractions import Fraction

_two = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}


def calculator(text: str) -> str:
    """Sums with + - * / // % ** and brackets, exact; what is no sum is refused. Runs no code."""
    if len(text) > 1000:
        raise ValueError("too long")

    def value(node):
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return Fraction(str(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return -value(node.operand) if isinstance(node.op, ast.USub) else value(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, power = value(node.left), value(node.right)
            if power.denominator != 1 or abs(power) * base.numerator.bit_length() > 30_000:
                raise ValueError("too large")
            return base ** int(power)
        if isinstance(node, ast.BinOp) and type(node.op) in _two:
            return Fraction(_two[type(node.op)](value(node.left), value(node.right)))
        raise ValueError("not a sum")

    found = value(ast.parse(text.strip().replace("×", "*").replace("÷", "/").replace("^", "**"), mode="eval"))
    return str(found.numerator) if found.denominator == 1 else repr(found.numerator / found.denominator)


def load_tool(name: str):
    """`calculator`, or `module:function` of the run's folder: text to text, plain or async."""
    if name == "calculator":
        return calculator
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


async def call_tool(tool, tag: str, given: str, attempts: int, timeout: float) -> tuple[str, bool]:
    """Attempts until one says something, or what a row reads where none did; and which of both it is."""

    async def once() -> str:
        if asyncio.iscoroutinefunction(tool):
            return await tool(given)
        return await asyncio.to_thread(tool, given)

    async def tries() -> tuple[str, bool]:
        for _ in range(attempts):
            try:
                text = await once()
            except Exception:  # noqa: BLE001  whatever a tool raises is its failure
                continue
            if text:
                return text, True
        return f"Tool({tag}) returned empty output.", False

    try:
        return await asyncio.wait_for(tries(), timeout)
    except asyncio.TimeoutError:
        return f"Error: Tool({tag}) execution failed with message: no answer within {timeout} s", False
