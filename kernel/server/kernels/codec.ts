import { joinBytes, utf8Bytes, utf8Text } from "#platform/bytes";

/** The sub-protocol that front ends ask for by name; without it messages are JSON. */
export const V1 = "v1.kernel.websocket.jupyter.org";

const channels = ["shell", "control", "stdin", "iopub"] as const;
export type Channel = (typeof channels)[number];

/** A message between a front end and a kernel: its four parts as JSON text, and its buffers. */
export interface Frames {
  channel: Channel;
  header: Uint8Array;
  parent: Uint8Array;
  metadata: Uint8Array;
  content: Uint8Array;
  buffers: Uint8Array[];
}

function channelOf(value: unknown): Channel {
  if (channels.includes(value as Channel)) return value as Channel;
  throw new SyntaxError(
    `Cannot read message: the channel must be one of ${channels.join(", ")}, got ${String(value)}`,
  );
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function slices(data: Uint8Array, offsets: number[]): Uint8Array[] {
  return offsets.slice(0, -1).map((from, i) => {
    const to = offsets[i + 1]!;
    if (!(from >= 0 && from <= to && to <= data.length)) {
      throw new SyntaxError(`Cannot read message: its parts must lie in ${data.length} bytes`);
    }
    return data.subarray(from, to);
  });
}

function offsetsV1(data: Uint8Array): number[] {
  if (data.length < 8) throw new SyntaxError("Cannot read message: it is too short");
  const view = viewOf(data);
  const count = Number(view.getBigUint64(0, true));
  if (count < 6 || 8 * (count + 1) > data.length) {
    throw new SyntaxError(`Cannot read message: it must have at least 6 offsets, got ${count}`);
  }
  return Array.from({ length: count }, (_, i) => Number(view.getBigUint64(8 * (i + 1), true)));
}

function decodeV1(data: Uint8Array): Frames {
  const [channel, header, parent, metadata, content, ...buffers] = slices(data, offsetsV1(data));
  return {
    channel: channelOf(utf8Text(channel!)),
    header: header!,
    parent: parent!,
    metadata: metadata!,
    content: content!,
    buffers,
  };
}

function encodeV1(frames: Frames): Uint8Array {
  const { channel, header, parent, metadata, content, buffers } = frames;
  const parts = [utf8Bytes(channel), header, parent, metadata, content, ...buffers];
  const head = new Uint8Array(8 * (parts.length + 2));
  const view = viewOf(head);
  view.setBigUint64(0, BigInt(parts.length + 1), true);
  let at = head.length;
  view.setBigUint64(8, BigInt(at), true);
  parts.forEach((part, i) => {
    at += part.length;
    view.setBigUint64(8 * (i + 2), BigInt(at), true);
  });
  return joinBytes([head, ...parts]);
}

function decodeBinary(data: Uint8Array): { json: Uint8Array; buffers: Uint8Array[] } {
  if (data.length < 4) throw new SyntaxError("Cannot read message: it is too short");
  const view = viewOf(data);
  const count = view.getUint32(0);
  if (count < 1 || 4 * (count + 1) > data.length) {
    throw new SyntaxError(`Cannot read message: its parts do not fit, got ${count}`);
  }
  const offsets = Array.from({ length: count }, (_, i) => view.getUint32(4 * (i + 1)));
  const [json, ...buffers] = slices(data, [...offsets, data.length]);
  return { json: json!, buffers };
}

function decodeDefault(data: Uint8Array, binary: boolean): Frames {
  const { json, buffers } = binary ? decodeBinary(data) : { json: data, buffers: [] };
  const message = JSON.parse(utf8Text(json)) as Record<string, unknown> | null;
  const part = (name: string): Uint8Array => utf8Bytes(JSON.stringify(message?.[name] ?? {}));
  return {
    channel: channelOf(message?.["channel"] ?? "shell"),
    header: part("header"),
    parent: part("parent_header"),
    metadata: part("metadata"),
    content: part("content"),
    buffers,
  };
}

function encodeDefault(frames: Frames): string | Uint8Array {
  const { channel, header, parent, metadata, content, buffers } = frames;
  const { msg_id, msg_type } = JSON.parse(utf8Text(header)) as Record<string, unknown>;
  // The parts are JSON already: put together, not parsed and written again.
  const json = [
    `{"channel":"${channel}","msg_id":${JSON.stringify(msg_id)},"msg_type":${JSON.stringify(msg_type)},"header":`,
    header,
    ',"parent_header":',
    parent,
    ',"metadata":',
    metadata,
    ',"content":',
    content,
    ',"buffers":[]}',
  ].map((piece) => (typeof piece === "string" ? utf8Bytes(piece) : piece));
  if (buffers.length === 0) return utf8Text(joinBytes(json));
  const parts = [joinBytes(json), ...buffers];
  const head = new Uint8Array(4 * (parts.length + 1));
  const view = viewOf(head);
  view.setUint32(0, parts.length);
  let at = head.length;
  parts.forEach((part, i) => {
    view.setUint32(4 * (i + 1), at);
    at += part.length;
  });
  return joinBytes([head, ...parts]);
}

/** What a front end sent. Throws a SyntaxError where it is not a message. */
export function decodeSocket(protocol: string, data: Uint8Array, binary: boolean): Frames {
  const frames = protocol === V1 ? decodeV1(data) : decodeDefault(data, binary);
  const header: unknown = JSON.parse(utf8Text(frames.header));
  if (typeof header !== "object" || header === null || !("msg_id" in header)) {
    throw new SyntaxError("Cannot read message: its header must have a msg_id");
  }
  return frames;
}

/** What a front end is sent: text where there are no buffers and it did not ask for more. */
export function encodeSocket(protocol: string, frames: Frames): string | Uint8Array {
  return protocol === V1 ? encodeV1(frames) : encodeDefault(frames);
}
