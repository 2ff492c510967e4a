import { shown } from "../../../common/options/check-arguments.js";
import { isRecord } from "../../../common/options/is-record.js";
import { chatOf, type FileRecord, isChat, jsonIn, numberIn } from "../row/fields.js";
import { WholeChats } from "../row/whole-chats.js";
import type { RolloutFormat } from "./format.js";

const lists = (record: unknown, name: string): FileRecord[] => {
  const value = isRecord(record) ? record[name] : undefined;
  return Array.isArray(value) ? value.filter(isRecord) : [];
};

/** The attributes of a span that are texts or numbers. */
function attributesOf(span: FileRecord): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { key, value } of lists(span, "attributes")) {
    if (typeof key !== "string" || !isRecord(value)) continue;
    const { stringValue: text, doubleValue: number, intValue: whole } = value;
    // 64 bits are a text in JSON.
    found[key] = text ?? numberIn(number ?? (typeof whole === "string" ? Number(whole) : whole));
  }
  return found;
}

/** What an attribute has as JSON; undefined where the program did not record contents. */
function contentIn(own: FileRecord, name: string): unknown {
  const value = own[name];
  if (typeof value !== "string") return undefined;
  const content = jsonIn(value);
  if (content === undefined) throw new TypeError(`${name} must be JSON, got ${shown(value)}`);
  return content;
}

function messagesIn(own: FileRecord, name: string): FileRecord[] {
  const messages = contentIn(own, name);
  return isChat(messages) ? [...messages] : [];
}

/** The spans of a record that are calls of a model, in their order, each with its trace. */
function chatsOf(record: FileRecord) {
  const spans = lists(record, "resourceSpans")
    .flatMap((resource) => lists(resource, "scopeSpans"))
    .flatMap((scope) => lists(scope, "spans"));
  return spans.flatMap((span) => {
    const own = attributesOf(span);
    const said = messagesIn(own, "gen_ai.output.messages");
    if (said.length === 0) return [];
    const parts = contentIn(own, "gen_ai.system_instructions");
    const asked = [
      ...(Array.isArray(parts) ? [{ role: "system", parts }] : []),
      ...messagesIn(own, "gen_ai.input.messages"),
    ];
    const model = own["gen_ai.response.model"] ?? own["gen_ai.request.model"];
    const score = numberIn(own["arpo_lab.score"] ?? own["gen_ai.evaluation.score.value"]);
    return [
      {
        trace: String(span["traceId"]),
        asked: asked.length === 0 ? [] : chatOf(asked, "gen_ai.input.messages"),
        said: chatOf(said, "gen_ai.output.messages"),
        besides: {
          ...(typeof model === "string" ? { model } : {}),
          ...(score === undefined ? {} : { score }),
        },
      },
    ];
  });
}

/** OpenTelemetry's spans of generative models, as OTLP writes them in JSON. */
export const otel: RolloutFormat = {
  name: "otel",
  title: "OpenTelemetry's GenAI spans",
  fits: (record) => Array.isArray(record["resourceSpans"]),
  read: () => undefined,
  // A file has its spans in any number of records: many programs write each as it ends.
  together: () => {
    const chats = new WholeChats();
    return {
      add: (record) => {
        // What is wrong with a record is told of that record alone.
        const calls = chatsOf(record);
        const rows = calls.flatMap(({ trace, ...call }) => chats.add(trace, call));
        return rows.length === 0 ? undefined : { rows };
      },
      end: () => ({ rows: chats.end() }),
    };
  },
  says: {
    "tool results":
      "tool_call_response parts; contents are there where the program was told to record them",
    rewards: "arpo_lab.score or gen_ai.evaluation.score.value, where a span has one",
  },
};
