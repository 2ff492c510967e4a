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


def openai_agents_responses() -> str:
    from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)

    @function_tool
    def python(code: str) -> str:
        "Runs Python."
        return "41"

    settings = ModelSettings(temperature=0)
    agent = Agent(name="a", instructions="Use python.", tools=[python], model="tiny", model_settings=settings)
    return str(Runner.run_sync(agent, question, max_turns=4).final_output)


def pydantic_ai(anthropic: bool = False) -> str:
    from pydantic_ai import Agent

    if anthropic:
        from pydantic_ai.models.anthropic import AnthropicModel

        model = AnthropicModel("tiny")
    else:
        from pydantic_ai.models.openai import OpenAIChatModel

        model = OpenAIChatModel("tiny")
    agent = Agent(model, system_prompt="Be short.", model_settings={"temperature": 0, "max_tokens": 200})

    @agent.tool_plain
    def python(code: str) -> str:
        "Runs Python."
        return "41"

    return str(agent.run_sync(question).output)


def mini_swe_agent() -> str:
    import os
    from pathlib import Path

    os.environ.update(MSWEA_SILENT_STARTUP="1", MSWEA_COST_TRACKING="ignore_errors")
    import minisweagent
    import yaml
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models import get_model

    key, base = os.environ["OPENAI_API_KEY"], os.environ["OPENAI_BASE_URL"]
    asked = {"api_base": base, "api_key": key, "num_retries": 0, "temperature": 0, "max_tokens": 60}
    model = get_model("openai/tiny", {"model_kwargs": asked})
    config = yaml.safe_load((Path(minisweagent.__file__).parent / "config/default.yaml").read_text())["agent"]
    config.update(step_limit=3, cost_limit=0)
    return str(DefaultAgent(model, LocalEnvironment(cwd=os.getcwd()), **config).run("Say hi."))


def voter() -> str:
    from collections import Counter
    from openai import OpenAI

    client = OpenAI(max_retries=0)
    asked = {"model": "tiny", "messages": [{"role": "user", "content": question}], "max_tokens": 40}
    answers = [client.chat.completions.create(**asked).choices[0].message.content for _ in range(5)]
    return str(Counter(answers).most_common(1)[0][0])


programs = {
    "openai-agents": openai_agents,
    "openai-agents-responses": openai_agents_responses,
    "pydantic-ai": pydantic_ai,
    "pydantic-ai-anthropic": lambda: pydantic_ai(anthropic=True),
    "mini-swe-agent": mini_swe_agent,
    "voter": voter,
}
print(programs[sys.argv[1]]())
