import assert from "node:assert/strict";
import type { CaptureSession } from "../../src/interop/capture/capture-session.js";

export type Fields = Record<string, unknown>;

/** Posts as a client of ours does, and reads what comes back, whole or in events. */
export async function post(
  session: Pick<CaptureSession, "key" | "env">,
  path: string,
  body: object | string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(session.env["OPENAI_BASE_URL"]! + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": session.key, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const streamed = response.headers.get("content-type")!.startsWith("text/event-stream");
  const events = streamed
    ? text.split("\n\n").flatMap((event) => {
        const found = /^event: (\S+)\ndata: (.*)$/.exec(event);
        if (!found) return [];
        const data = JSON.parse(found[2]!) as Fields;
        assert.equal(data["type"], found[1]);
        return [data];
      })
    : [];
  const json = (streamed ? {} : JSON.parse(text)) as Fields;
  return { status: response.status, json, events, text };
}

export const calc = {
  type: "function",
  name: "calc",
  parameters: { type: "object", properties: { sum: {} } },
};
export const claudeCalc = { name: "calc", input_schema: calc.parameters };
export const question = { role: "user", content: "2+2?" };
export const thought = "<think>a sum</think>";
export const call = "<calc>2+2</calc>";
export const script = {
  [`<u>2+2?<e><a>`]: thought + call,
  [`<u>2+2?<e><a>${thought}${call} <result>\n4\n</result>`]: "four<e>",
  [`<u>2+2?<e><a>${thought}${call} <result>\n4\n</result>four<e><u>sure?<e><a>`]: "yes<e>",
};
