import { isRecord } from "../../common/options/is-record.js";
import { sameBytes, utf8Bytes, utf8Text } from "#platform/bytes";
import { randomUUID } from "#platform/uuid";

/** Vouches for messages: with the connection's key, or within one page not at all. */
export interface Signs {
  sign(parts: Uint8Array[]): string;
  verify(signature: Uint8Array, parts: Uint8Array[]): boolean;
}

/** The version of the Jupyter messaging protocol this kernel speaks. */
export const PROTOCOL_VERSION = "5.5";

export interface Header {
  msg_id: string;
  msg_type: string;
  session: string;
  username: string;
  date: string;
  version: string;
  /** The subshell that a message is for; none: the main shell. */
  subshell_id?: string | null;
}

export type Json = Record<string, unknown>;

/** A message as it came in: its signature is right and its four parts are objects. */
export interface Message {
  /** Routing frames, to be put in front of the answer. */
  identities: Uint8Array[];
  header: Header;
  /** The header of what it answers, or an empty object. */
  parent: Partial<Header>;
  metadata: Json;
  content: Json;
  buffers: Uint8Array[];
}

export interface Outgoing {
  type: string;
  content: Json;
  parent: Header | undefined;
  /** Default: a number within the session. */
  id?: string;
  metadata?: Json;
  buffers?: Uint8Array[];
}

const delimiter = utf8Bytes("<IDS|MSG>");
const isDelimiter = (frame: Uint8Array): boolean =>
  frame.length === delimiter.length && sameBytes(delimiter, frame);

function parseObject(frame: Uint8Array, part: string): Json {
  const value: unknown = JSON.parse(utf8Text(frame));
  if (!isRecord(value)) {
    throw new SyntaxError(`Cannot read message: ${part} must be an object, got ${typeof value}`);
  }
  return value;
}

/** Frames to a message. Throws when the signature is wrong or a part is missing or malformed. */
export function decodeMessage(frames: Uint8Array[], signer: Signs): Message {
  const at = frames.findIndex(isDelimiter);
  if (at < 0) throw new SyntaxError(`Cannot read message: no <IDS|MSG> in ${frames.length} frames`);
  const signature = frames[at + 1];
  const parts = frames.slice(at + 2, at + 6);
  if (signature === undefined || parts.length < 4) {
    throw new SyntaxError(`Cannot read message: it needs 4 parts, got ${parts.length}`);
  }
  if (!signer.verify(signature, parts)) {
    throw new SyntaxError("Cannot read message: the signature must match the connection's key");
  }
  const header = parseObject(parts[0]!, "header");
  const parent = parseObject(parts[1]!, "parent header");
  for (const field of ["msg_id", "msg_type"]) {
    if (typeof header[field] !== "string") {
      throw new SyntaxError(
        `Cannot read message: ${field} must be a string, got ${typeof header[field]}`,
      );
    }
  }
  return {
    identities: frames.slice(0, at),
    header: header as unknown as Header,
    parent,
    metadata: parseObject(parts[2]!, "metadata"),
    content: parseObject(parts[3]!, "content"),
    buffers: frames.slice(at + 6),
  };
}

/** JSON as Jupyter wants it: bigints become their digits, and nothing else is special. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_, v: unknown) => (typeof v === "bigint" ? v.toString() : v));
  }
}

const nothing = utf8Bytes("{}");

/** Makes signed frames, with headers of one session. */
export class Encoder {
  readonly session = randomUUID();
  readonly #signer: Signs;
  #count = 0;
  #lastParent: { header: Header; json: Uint8Array } | undefined;

  constructor(signer: Signs) {
    this.#signer = signer;
  }

  encode(message: Outgoing, prefix: Uint8Array[]): Uint8Array[] {
    const header: Header = {
      msg_id: message.id ?? `${this.session}_${this.#count++}`,
      msg_type: message.type,
      session: this.session,
      username: "kernel",
      date: new Date().toISOString(),
      version: PROTOCOL_VERSION,
    };
    const { parent, metadata, content } = message;
    const parts = [
      utf8Bytes(toJson(header)),
      this.#parent(parent),
      metadata === undefined ? nothing : utf8Bytes(toJson(metadata)),
      utf8Bytes(toJson(content)),
    ];
    return [
      ...prefix,
      delimiter,
      utf8Bytes(this.#signer.sign(parts)),
      ...parts,
      ...(message.buffers ?? []),
    ];
  }

  /** The same header stands in every message of a cell. */
  #parent(header: Header | undefined): Uint8Array {
    if (header === undefined) return nothing;
    if (header !== this.#lastParent?.header) {
      this.#lastParent = { header, json: utf8Bytes(toJson(header)) };
    }
    return this.#lastParent.json;
  }
}
