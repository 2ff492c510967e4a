"""Clients of Responses and Messages, for tests/python/dialects.slow.test.ts: python wire_program.py NAME [stream] [two]

They ask at OPENAI_BASE_URL or ANTHROPIC_BASE_URL with keys from their environment, as their packages do by themselves.
Each prints what the model said at last."""
import sys

stream, two = "stream" in sys.argv, "two" in sys.argv
question = "What is 12 + 34 - 5?"
parameters = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
names = ["python", "search"] if two else ["python"]


def openai_items(stream: bool, previous: bool) -> str:
    from openai import OpenAI

    client = OpenAI()
    tools = [
        {"type": "function", "name": name, "description": "Runs code.", "parameters": parameters} for name in names
    ]
    asked = dict(model="tiny", tools=tools, temperature=0, instructions="Use python.")

    def ask(**more):
        if not stream:
            return client.responses.create(**asked, **more)
        with client.responses.stream(**asked, **more) as events:
            for _ in events:
                pass
            return events.get_final_response()

    items = [{"role": "user", "content": question}]
    response = ask(input=items)
    results = [
        {"type": "function_call_output", "call_id": item.call_id, "output": "41"}
        for item in response.output if item.type == "function_call"
    ]
    assert results, response.output
    if previous:
        return ask(input=results, previous_response_id=response.id).output_text
    sent = [item.model_dump(exclude_none=True) for item in response.output]
    return ask(input=[*items, *sent, *results]).output_text


def agents(stream: bool, previous: bool) -> str:
    import asyncio
    from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)

    @function_tool
    def python(code: str) -> str:
        "Runs Python."
        return "41"

    @function_tool
    def search(code: str) -> str:
        "Searches."
        return "41"

    settings = ModelSettings(temperature=0)
    agent = Agent(name="a", instructions="Use python.", tools=[python, search][: len(names)], model="tiny", model_settings=settings)
    more = {"max_turns": 4, "auto_previous_response_id": previous}
    if not stream:
        return str(Runner.run_sync(agent, question, **more).final_output)

    async def streamed() -> str:
        run = Runner.run_streamed(agent, question, **more)
        async for _ in run.stream_events():
            pass
        return str(run.final_output)

    return asyncio.run(streamed())


def anthropic_blocks(stream: bool) -> str:
    from anthropic import Anthropic

    client = Anthropic()
    tools = [{"name": name, "description": "Runs code.", "input_schema": parameters} for name in names]
    messages = [{"role": "user", "content": question}]
    asked = dict(model="tiny", max_tokens=2048, system="Use python.", tools=tools, extra_body={"temperature": 0})

    def ask():
        if not stream:
            return client.messages.create(messages=messages, **asked)
        with client.messages.stream(messages=messages, **asked) as events:
            return events.get_final_message()

    counted = client.messages.count_tokens(model="tiny", messages=messages, tools=tools, system="Use python.")
    message = ask()
    assert message.usage.input_tokens == counted.input_tokens, (message.usage, counted)
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "41"}
        for block in message.content if block.type == "tool_use"
    ]
    assert results, message.content
    messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    return "".join(block.text for block in ask().content if block.type == "text")


def anthropic_runner(stream: bool) -> str:
    from anthropic import Anthropic, beta_tool

    @beta_tool
    def python(code: str) -> str:
        "Runs Python."
        return "41"

    @beta_tool
    def search(code: str) -> str:
        "Searches."
        return "41"

    runner = Anthropic().beta.messages.tool_runner(
        model="tiny", max_tokens=500, tools=[python, search][: len(names)], system="Use python.", stream=stream, max_iterations=4,
        messages=[{"role": "user", "content": question}], extra_body={"temperature": 0},
    )
    last = None
    for message in runner:
        last = message.get_final_message() if stream else message
    return "".join(block.text for block in last.content if block.type == "text")


kinds = {
    "openai": lambda stream: openai_items(stream, False),
    "openai-previous": lambda stream: openai_items(stream, True),
    "agents": lambda stream: agents(stream, False),
    "agents-previous": lambda stream: agents(stream, True),
    "anthropic": anthropic_blocks,
    "anthropic-runner": anthropic_runner,
}
print(kinds[sys.argv[1]](stream))
