/** The sub-protocol that front ends ask for by name; without it messages are JSON. */
export const V1 = "v1.kernel.websocket.jupyter.org";

export const channels = ["shell", "control", "stdin", "iopub"] as const;
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

function slices(data: Buffer, offsets: number[]): Buffer[] {
  return offsets.slice(0, -1).map((from, i) => {
    const to = offsets[i + 1]!;
    if (!(from >= 0 && from <= to && to <= data.length)) {
      throw new SyntaxError(`Cannot read message: its parts must lie in ${data.length} bytes`);
    }
    return data.subarray(from, to);
  });
}

function offsetsV1(data: Buffer): number[] {
  if (data.length < 8) throw new SyntaxError("Cannot read message: it is too short");
  const count = Number(data.readBigUInt64LE(0));
  if (count < 6 || 8 * (count + 1) > data.length) {
    throw new SyntaxError(`Cannot read message: it must have at least 6 offsets, got ${count}`);
  }
  return Array.from({ length: count }, (_, i) => Number(data.readBigUInt64LE(8 * (i + 1))));
}

function decodeV1(data: Buffer): Frames {
  const [channel, header, parent, metadata, content, ...buffers] = slices(data, offsetsV1(data));
  return {
    channel: channelOf(channel!.toString()),
    header: header!,
    parent: parent!,
    metadata: metadata!,
    content: content!,
    buffers,
  };
}

function encodeV1(frames: Frames): Buffer {
  const { channel, header, parent, metadata, content, buffers } = frames;
  const parts = [Buffer.from(channel), header, parent, metadata, content, ...buffers];
  const head = Buffer.alloc(8 * (parts.length + 2));
  head.writeBigUInt64LE(BigInt(parts.length + 1), 0);
  let at = head.length;
  head.writeBigUInt64LE(BigInt(at), 8);
  parts.forEach((part, i) => {
    at += part.length;
    head.writeBigUInt64LE(BigInt(at), 8 * (i + 2));
  });
  return Buffer.concat([head, ...parts]);
}

function decodeBinary(data: Buffer): { json: Buffer; buffers: Buffer[] } {
  if (data.length < 4) throw new SyntaxError("Cannot read message: it is too short");
  const count = data.readUInt32BE(0);
  if (count < 1 || 4 * (count + 1) > data.length) {
    throw new SyntaxError(`Cannot read message: its parts do not fit, got ${count}`);
  }
  const offsets = Array.from({ length: count }, (_, i) => data.readUInt32BE(4 * (i + 1)));
  const [json, ...buffers] = slices(data, [...offsets, data.length]);
  return { json: json!, buffers };
}

function decodeDefault(data: Buffer, binary: boolean): Frames {
  const { json, buffers } = binary ? decodeBinary(data) : { json: data, buffers: [] };
  const message = JSON.parse(json.toString()) as Record<string, unknown> | null;
  const part = (name: string): Buffer => Buffer.from(JSON.stringify(message?.[name] ?? {}));
  return {
    channel: channelOf(message?.["channel"] ?? "shell"),
    header: part("header"),
    parent: part("parent_header"),
    metadata: part("metadata"),
    content: part("content"),
    buffers,
  };
}

function encodeDefault(frames: Frames): string | Buffer {
  const { channel, header, parent, metadata, content, buffers } = frames;
  const { msg_id, msg_type } = JSON.parse(Buffer.from(header).toString()) as Record<
    string,
    unknown
  >;
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
  ].map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece));
  if (buffers.length === 0) return Buffer.concat(json).toString();
  const parts = [Buffer.concat(json), ...buffers];
  const head = Buffer.alloc(4 * (parts.length + 1));
  head.writeUInt32BE(parts.length, 0);
  let at = head.length;
  parts.forEach((part, i) => {
    head.writeUInt32BE(at, 4 * (i + 1));
    at += part.length;
  });
  return Buffer.concat([head, ...parts]);
}

/** What a front end sent. Throws a SyntaxError where it is not a message. */
export function decodeSocket(protocol: string, data: Buffer, binary: boolean): Frames {
  const frames = protocol === V1 ? decodeV1(data) : decodeDefault(data, binary);
  const header: unknown = JSON.parse(Buffer.from(frames.header).toString());
  if (typeof header !== "object" || header === null || !("msg_id" in header)) {
    throw new SyntaxError("Cannot read message: its header must have a msg_id");
  }
  return frames;
}

/** What a front end is sent: text where there are no buffers and it did not ask for more. */
export function encodeSocket(protocol: string, frames: Frames): string | Buffer {
  return protocol === V1 ? encodeV1(frames) : encodeDefault(frames);
}
