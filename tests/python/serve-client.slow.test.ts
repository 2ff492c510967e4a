// Python's `openai` package against our server. Needs a Python that has it (ARPO_LAB_PYTHON).
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serveTiny } from "../serve/tiny-server.js";

const python = process.env.ARPO_LAB_PYTHON;
const run = promisify(execFile);

function missing(): string | false {
  if (python === undefined) return "ARPO_LAB_PYTHON names no Python";
  const { status } = spawnSync(python, ["-c", "import openai"]);
  return status !== 0 && `${python} has no openai`;
}

const checks = `
import openai, sys
client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
messages = [{"role": "user", "content": "What is 12 + 34 - 5?"}]

assert [m.id for m in client.models.list()] == ["tiny"]
whole = client.chat.completions.create(
    model="tiny", messages=messages, temperature=0, logprobs=True, top_logprobs=3, stop="</think>")
choice = whole.choices[0]
assert choice.finish_reason == "stop"
assert "".join(t.token for t in choice.logprobs.content) == choice.message.content
parts = client.chat.completions.create(
    model="tiny", messages=messages, temperature=0, stop="</think>", stream=True,
    stream_options={"include_usage": True})
text, usage = "", None
for part in parts:
    usage = part.usage or usage
    text += "".join(c.delta.content or "" for c in part.choices)
assert text == choice.message.content and usage == whole.usage, (text, usage)

tools = [{"type": "function", "function": {"name": "python", "parameters": {
    "type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}]
called = client.chat.completions.create(
    model="tiny", messages=messages, temperature=0, tools=tools).choices[0]
assert called.finish_reason == "tool_calls" and called.message.tool_calls[0].function.name == "python"

a, b = client.completions.create(
    model="tiny", prompt="What is", max_tokens=8, seed=3, n=2, logprobs=2).choices
alone = client.completions.create(model="tiny", prompt="What is", max_tokens=8, seed=4).choices[0]
assert b.text == alone.text and len(a.logprobs.tokens) == len(a.logprobs.text_offset)
try:
    client.completions.create(model="tiny", prompt="x", temperature=-1)
    raise SystemExit("nothing was refused")
except openai.BadRequestError as error:
    assert error.param == "temperature"
try:
    client.completions.create(model="gpt", prompt="x")
    raise SystemExit("nothing was refused")
except openai.NotFoundError as error:
    assert error.code == "model_not_found"
print("ok")
`;

test("Python's openai client lists, chats, streams, calls functions and is told its errors", async (t) => {
  const skip = missing();
  if (skip !== false) return t.skip(skip);
  const { server } = await serveTiny(t);
  const { stdout } = await run(python!, ["-c", checks, server.url], { encoding: "utf8" });
  assert.equal(stdout.trim(), "ok");
});

test("docs/serve.md: the Python example runs", async (t) => {
  const skip = missing();
  if (skip !== false) return t.skip(skip);
  const { server } = await serveTiny(t);
  const page = readFileSync(
    fileURLToPath(new URL("../../../docs/serve.md", import.meta.url)),
    "utf8",
  );
  const [, block] = /^```python\n(.*?)^```/ms.exec(page)!;
  const code = block!.replace("http://127.0.0.1:8000/v1", server.url);
  const { stdout } = await run(python!, ["-c", code], { encoding: "utf8" });
  assert.match(stdout, /^<think>/);
});
