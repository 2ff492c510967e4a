// An agent program as anybody would write it with the `openai` package: a tool loop with a stream.
import OpenAI from "openai";

const task = JSON.parse(process.env.ARPO_LAB_TASK ?? '{"question": "What is 12 + 34 - 5?"}');
const client = new OpenAI({ maxRetries: 0 });
const runner = client.chat.completions.runTools(
  {
    model: "gpt-4o-mini",
    messages: [{ role: "user", content: task.question }],
    stream: true,
    tools: [
      {
        type: "function",
        function: {
          name: "python",
          description: "Computes a sum.",
          parameters: {
            type: "object",
            properties: { code: { type: "string" } },
            required: ["code"],
          },
          parse: JSON.parse,
          function: ({ code }) =>
            String(Function(`return ${code.replace(/[^-+*\d]/g, "") || 0}`)()),
        },
      },
    ],
  },
  { maxChatCompletions: 4 },
);
const answer = await runner.finalContent().catch(() => "");
if (process.env.ARPO_LAB_SESSION_URL) {
  await fetch(`${process.env.ARPO_LAB_SESSION_URL}/reward`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ score: Number(/41/.test(answer ?? "")), reason: "the sum" }),
  });
}
