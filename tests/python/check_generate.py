"""Asks an engine as verifiers' training client does: python check_generate.py ORIGIN MODEL_FOLDER"""
import asyncio
import json
import sys

from openai import AsyncOpenAI
from renderers import DefaultRendererConfig, create_renderer
from renderers.client import generate
from transformers import AutoTokenizer


async def main(origin: str, folder: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    renderer = create_renderer(tokenizer, DefaultRendererConfig())
    client = AsyncOpenAI(base_url=f"{origin}/v1", api_key="none", max_retries=0)
    said = await generate(
        client=client,
        renderer=renderer,
        messages=[{"role": "user", "content": "What is 12 + 34 - 5?"}],
        model="tiny",
        sampling_params={"temperature": 1.0, "max_tokens": 40, "seed": 7},
    )
    keys = ["prompt_ids", "completion_ids", "completion_logprobs", "finish_reason"]
    print(json.dumps({key: said[key] for key in keys}))


asyncio.run(main(*sys.argv[1:]))
