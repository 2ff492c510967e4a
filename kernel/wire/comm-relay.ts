import type { CommEvent, CommTraffic, ToMain } from "../contract/bridge.js";
import type { Header, Json, Message } from "./message.js";
import type { Publisher } from "./publisher.js";
import { isRecord } from "../../common/options/is-record.js";

const events = { comm_open: "open", comm_msg: "message", comm_close: "close" } as const;
const types = { open: "comm_open", message: "comm_msg", close: "comm_close" } as const;

const object = (value: unknown): Json => (isRecord(value) ? (value as Json) : {});

/** What answers comms of a target on this thread, also while a cell runs. */
type Answers = Readonly<Record<string, (data: Json) => Promise<Json>>>;

/** Comm messages in both directions, and which comms are open. */
export class CommRelay {
  readonly #publisher: Publisher;
  readonly #toMain: (message: ToMain) => void;
  readonly #open = new Map<string, string>();
  readonly #handled = new Map<string, () => void>();
  readonly #here: Answers;

  constructor(publisher: Publisher, toMain: (message: ToMain) => void, here: Answers) {
    this.#publisher = publisher;
    this.#toMain = toMain;
    this.#here = here;
  }

  /** The open comms, all or those with one target. */
  info(target: unknown): Json {
    const open = [...this.#open].filter(
      ([, name]) => typeof target !== "string" || name === target,
    );
    return Object.fromEntries(open.map(([id, name]) => [id, { target_name: name }]));
  }

  /** Resolves when the main thread has dealt with it, so that its output lies between busy and idle. */
  async fromFrontEnd(message: Message): Promise<void> {
    const { header, content, metadata, buffers } = message;
    const event: CommEvent = events[header.msg_type as keyof typeof events];
    const commId = String(content.comm_id ?? "");
    const target = String(content.target_name ?? this.#open.get(commId) ?? "");
    this.#track(event, commId, target);
    const data = object(content.data);
    const answer = Object.hasOwn(this.#here, target) ? this.#here[target] : undefined;
    if (answer !== undefined) {
      if (event !== "message") return;
      const said = { comm_id: commId, data: await answer(data) };
      return this.#publisher.publish("comm_msg", said, header);
    }
    await new Promise<void>((resolve) => {
      this.#handled.set(header.msg_id, resolve);
      const traffic = { type: "comm", event, commId, target, data, metadata, buffers } as const;
      this.#toMain({ ...traffic, id: header.msg_id });
    });
  }

  handled(id: string): void {
    this.#handled.get(id)?.();
    this.#handled.delete(id);
  }

  fromMain(
    { event, commId, target, data, metadata, buffers }: CommTraffic,
    parent: Header | undefined,
    sent: () => void,
  ): void {
    this.#track(event, commId, target);
    const content: Json = { comm_id: commId, data };
    if (event === "open") content.target_name = target;
    this.#publisher.publish(types[event], content, parent, { metadata, buffers, sent });
  }

  #track(event: CommEvent, commId: string, target: string): void {
    if (event === "open") this.#open.set(commId, target);
    if (event === "close") this.#open.delete(commId);
  }
}
