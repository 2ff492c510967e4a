// The protocol as a schema, and what a session sent held against it.
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import type { Message } from "../../kernel/wire/message.js";
import type { Channel } from "./front-end.js";

interface Schema {
  definitions: Record<string, object>;
  channels: Record<Channel | "iopub", string[]>;
}

const file = new URL("../../../tests/kernel/protocol.schema.json", import.meta.url);
const { definitions, channels, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Schema;
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ ...rest, definitions }, "protocol");

const validator = (name: string): ValidateFunction => {
  const found = ajv.getSchema(`protocol#/definitions/${name}`);
  if (found === undefined) throw new RangeError(`Cannot check: no message is called '${name}'`);
  return found;
};

/** All kinds of message a kernel may send. */
export const kinds: readonly string[] = [...new Set(Object.values(channels).flat())];

/** What is wrong with a message, in words; nothing where it is as the protocol says. */
export function faultsOf(channel: Channel | "iopub", message: Message): string[] {
  const { header, parent, metadata, content } = message;
  const type = header.msg_type;
  if (!channels[channel].includes(type)) return [`${channel} must not carry ${type}`];
  const parts: [string, object][] = [
    ["message", { header, parent_header: parent, metadata, content }],
    [type, content],
  ];
  return parts.flatMap(([name, value]) => {
    const validate = validator(name);
    if (validate(value)) return [];
    return [
      `${type}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 400)}`,
    ];
  });
}
