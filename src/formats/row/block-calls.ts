import { defined } from "../../../common/options/defined.js";
import { shown } from "../../../common/options/check-arguments.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { chatOf, type FileRecord, listOf } from "./fields.js";
import type { ImportedRow, Understood } from "./imported-row.js";
import { messagesOfItems } from "./message-blocks.js";
import { WholeChats } from "./whole-chats.js";

// Requests with their responses, by Anthropic's Messages and OpenAI's Responses.

/** What was sent: some logs have it in an envelope. */
export const bodyOf = (value: unknown): FileRecord => {
  if (!isRecord(value)) return {};
  return isRecord(value["body"]) ? value["body"] : value;
};

/** Whether a record is a call of one of the two. */
export function isBlockCall({ request, response }: FileRecord): boolean {
  const { content, output, choices } = bodyOf(response);
  return isRecord(request) && !Array.isArray(choices) && [content, output].some(Array.isArray);
}

const ends: Readonly<Record<string, TrajectoryEnd>> = {
  ...{ end_turn: "answer", tool_use: "answer", stop_sequence: "answer", completed: "answer" },
  ...{ max_tokens: "length", incomplete: "length" },
};

type Besides = (record: FileRecord) => Partial<ImportedRow>;

/** The calls of a log: those of one chat are one trajectory, of which the model wrote every response. */
export class BlockCalls {
  readonly #besides: Besides;
  readonly #chats = new WholeChats();
  /** Conversations by the id of their last response, and items of responses by their own. */
  readonly #answered = new Map<string, readonly ChatMessage[]>();
  readonly #items = new Map<string, FileRecord>();

  constructor(besides: Besides) {
    this.#besides = besides;
  }

  add(record: FileRecord): Understood | undefined {
    const [request, response] = [bodyOf(record["request"]), bodyOf(record["response"])];
    const { asked, said, stop } = Array.isArray(response["content"])
      ? this.#ofMessages(request, response)
      : this.#ofResponses(request, response);
    const { id, model = request["model"] } = response;
    if (typeof id === "string") this.#answered.set(id, [...asked, ...said]);
    const besides = {
      ...this.#besides(record),
      ...defined({ end: ends[String(stop)] }),
      ...(typeof model === "string" ? { model } : {}),
    };
    const rows = this.#chats.add("", { asked, said, besides });
    if (rows.length === 0) return undefined;
    this.#answered.clear();
    this.#items.clear();
    return { rows };
  }

  end(): Understood {
    return { rows: this.#chats.end() };
  }

  #ofMessages(request: FileRecord, { content, stop_reason: stop }: FileRecord) {
    const { system, thread } = request;
    const { type, previous_message_id: id } = isRecord(thread) ? thread : {};
    const before = type === "continue" ? this.#before("previous_message_id", id) : systemOf(system);
    const asked = chatOf(listOf(request, "messages"), "request.messages");
    return {
      ...{ asked: [...before, ...asked], stop },
      said: chatOf([{ role: "assistant", content }], "response"),
    };
  }

  #ofResponses(request: FileRecord, { output, status: stop }: FileRecord) {
    const { input, instructions, previous_response_id: id } = request;
    const given = Array.isArray(input) ? input.map((item) => this.#item(item)) : (input ?? []);
    const asked = messagesOfItems(given);
    const earlier =
      typeof id === "string"
        ? this.#before("previous_response_id", id).filter(
            ({ role }, i) => i > 0 || role !== "system",
          )
        : [];
    for (const item of Array.isArray(output) ? output.filter(isRecord) : []) {
      if (typeof item["id"] === "string") this.#items.set(item["id"], item);
    }
    return {
      asked: [
        ...systemOf(instructions),
        ...earlier,
        ...(asked.length === 0 ? [] : chatOf(asked, "request.input")),
      ],
      ...{ said: chatOf(messagesOfItems(output), "response.output"), stop },
    };
  }

  #before(name: string, id: unknown): readonly ChatMessage[] {
    const found = this.#answered.get(String(id));
    if (found) return found;
    throw new TypeError(`${name} must name a response before it in the file, got ${shown(id)}`);
  }

  #item(item: unknown): unknown {
    if (!isRecord(item) || item["type"] !== "item_reference") return item;
    const found = this.#items.get(String(item["id"]));
    if (found) return found;
    const rule = "must name an item of a response before it in the file";
    throw new TypeError(`item_reference ${rule}, got ${shown(item["id"])}`);
  }
}

const systemOf = (content: unknown) =>
  content === undefined || content === null || content === ""
    ? []
    : chatOf([{ role: "system", content }], "request");
