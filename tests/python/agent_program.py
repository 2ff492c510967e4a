"""Agent programs with real packages, for tests/python/capture.slow.test.ts: python agent_program.py NAME

They ask at OPENAI_BASE_URL with OPENAI_API_KEY, as their packages do by themselves."""
import sys

question = "What is 12 + 34 - 5?"


def openai_agents() -> str:
    from agents import (
        Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled,
    )
    from openai import AsyncOpenAI

    set_tracing_disabled(True)

    @function_tool
    def python(code: str) -> str:
        "Runs Python."
        return "41"

    client = AsyncOpenAI(max_retries=0)
    agent = Agent(
        name="a",
        instructions="Use python.",
        tools=[python],
        model=OpenAIChatCompletionsModel(model="tiny", openai_client=client),
        model_settings=ModelSettings(temperature=0),
    )
    return str(Runner.run_sync(agent, question, max_turns=4).final_output)


def pydantic_ai() -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel

    agent = Agent(OpenAIChatModel("tiny"), system_prompt="Be short.", model_settings={"temperature": 0})

    @agent.tool_plain
    def python(code: str) -> str:
        "Runs Python."
        return "41"

    return str(agent.run_sync(question).output)


print({"openai-agents": openai_agents, "pydantic-ai": pydantic_ai}[sys.argv[1]]())
