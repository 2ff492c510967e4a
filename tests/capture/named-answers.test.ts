// Several answers to one prompt: the ids of a call say which of them a program went on with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { calc, call, claudeCalc, type Fields, post, question } from "./dialect-requests.js";
import { scriptedCapture } from "./scripted-capture.js";

test("an answer that lost its thought is the one whose ids it has, of several to one prompt", async (t) => {
  const script = { "<u>2+2?<e><a>": [`<think>a sum</think>${call}`, `<think>so</think>${call}`] };
  const { server } = await scriptedCapture(t, script);
  for (const dialect of ["/messages", "/responses"] as const) {
    const session = server.session();
    const isMessages = dialect === "/messages";
    const body = isMessages
      ? { model: "m", max_tokens: 64, tools: [claudeCalc] }
      : { model: "m", tools: [calc] };
    const ask = async (said: readonly object[]) => {
      const all = [question, ...said];
      const { json } = await post(session, dialect, {
        ...{ ...body, ...(isMessages ? { messages: all } : { input: all }) },
      });
      return (json["content"] ?? json["output"]) as Fields[];
    };
    const answers: Fields[][] = [];
    for (let i = 0; i < 4; i++) answers.push(await ask([]));
    const of = 2;
    const made = answers[of]![1]!;
    const result = { tool_use_id: made["id"], call_id: made["call_id"], content: "4", output: "4" };
    await ask(
      isMessages
        ? [
            { role: "assistant", content: [made] },
            { role: "user", content: [{ ...result, type: "tool_result" }] },
          ]
        : [made, { ...result, type: "function_call_output" }],
    );
    const { calls } = await server.end(session, 1);
    assert.deepEqual([calls[4]!.parent, calls[4]!.rewrite!.of], [of, of]);
    assert.match(calls[4]!.rewrite!.recorded, /think>/);
  }
});

test("a reward of other types is refused", async (t) => {
  const { server } = await scriptedCapture(t, {});
  const reward = async (body: object) => {
    const { status } = await fetch(`${server.url}/sessions/${server.session().id}/reward`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return status;
  };
  for (const more of [{ reason: 5 }, { parts: { a: "b" } }, { parts: 5 }, { parts: [1] }]) {
    assert.equal(await reward({ score: 1, ...more }), 400, JSON.stringify(more));
  }
  assert.equal(await reward({ score: 1, reason: "right", parts: { form: 0.5 } }), 200);
  const open = await fetch(`${server.url}/sessions/${server.session().id}/tree`);
  assert.deepEqual([open.status, open.headers.get("x-should-retry")], [409, "false"]);
});
