import { shown } from "../../../common/options/check-arguments.js";
import { isRecord } from "../../../common/options/is-record.js";
import { chatOf, type FileRecord, isChat, jsonIn, numberIn, withoutFields } from "../row/fields.js";
import type { ImportedRow } from "../row/imported-row.js";
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

interface Chat {
  trace: string;
  asked: FileRecord[];
  said: FileRecord[];
  model: unknown;
  score: number | undefined;
}

/** The spans of a record that are calls of a model, in their order. */
function chatsOf(record: FileRecord): Chat[] {
  const spans = lists(record, "resourceSpans")
    .flatMap((resource) => lists(resource, "scopeSpans"))
    .flatMap((scope) => lists(scope, "spans"));
  return spans.flatMap((span): Chat[] => {
    const own = attributesOf(span);
    const said = messagesIn(own, "gen_ai.output.messages");
    if (said.length === 0) return [];
    const parts = contentIn(own, "gen_ai.system_instructions");
    return [
      {
        trace: String(span["traceId"]),
        asked: [
          ...(Array.isArray(parts) ? [{ role: "system", parts }] : []),
          ...messagesIn(own, "gen_ai.input.messages"),
        ],
        said,
        model: own["gen_ai.response.model"] ?? own["gen_ai.request.model"],
        score: numberIn(own["arpo_lab.score"] ?? own["gen_ai.evaluation.score.value"]),
      },
    ];
  });
}

/** What is compared of a message: how it ended is known of the last one alone. */
const bare = (message: FileRecord) => JSON.stringify(withoutFields(message, ["finish_reason"]));

function rowOf({ asked, said, model, score }: Chat): ImportedRow {
  const messages = chatOf([...asked, ...said], "gen_ai.input.messages");
  const first = messages.findIndex(({ role }) => role === "assistant");
  return {
    prompt: first === 0 ? "" : messages.slice(0, first),
    parts: [],
    messages: messages.slice(first),
    ...(typeof model === "string" ? { model } : {}),
    ...(score === undefined ? {} : { score }),
  };
}

const rowsOf = (whole: readonly { call: { row: ImportedRow } }[]) =>
  whole.length === 0 ? undefined : { rows: whole.map(({ call }) => call.row) };

/** OpenTelemetry's spans of generative models, as OTLP writes them in JSON. */
export const otel: RolloutFormat = {
  name: "otel",
  title: "OpenTelemetry's GenAI spans",
  fits: (record) => Array.isArray(record["resourceSpans"]),
  read: () => undefined,
  // A file has its spans in any number of records: many programs write each as it ends.
  together: () => {
    const chats = new WholeChats<Chat & { row: ImportedRow }>((message) =>
      bare(message as FileRecord),
    );
    return {
      add: (record) => {
        // What is wrong with a record is told of that record alone.
        const calls = chatsOf(record).map((chat) => ({ ...chat, row: rowOf(chat) }));
        return rowsOf(calls.flatMap((call) => chats.add(call.trace, call)));
      },
      end: () => rowsOf(chats.end()),
    };
  },
  says: {
    "tool results":
      "tool_call_response parts; contents are there where the program was told to record them",
    rewards: "arpo_lab.score or gen_ai.evaluation.score.value, where a span has one",
  },
};
