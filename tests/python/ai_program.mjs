// An agent program with Vercel's `ai` package, streaming: for tests/python/capture.slow.test.ts.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const result = streamText({
  model: createOpenAICompatible({ name: "lab", baseURL, apiKey })("tiny"),
  tools: {
    python: tool({
      description: "Runs Python.",
      inputSchema: z.object({ code: z.string() }),
      execute: () => "41",
    }),
  },
  stopWhen: isStepCount(4),
  prompt: "What is 12 + 34 - 5?",
  temperature: 0,
  maxRetries: 0,
});
console.log(await result.text);
