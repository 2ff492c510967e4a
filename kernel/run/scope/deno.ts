// `Deno.jupyter` in a cell: its documented API on this kernel's display, so that notebooks written for
// Deno's kernel run. Nothing else of Deno is here, and only cells have the name: a package that saw it
// would take Node for Deno.
import { readFileSync } from "#platform/files";
import { isDisplayable, displaySymbol, normalizeBundle } from "../../display/displayable.js";
import { base64, sniffImage } from "../../display/image.js";
import { Rich } from "../../display/rich.js";
import type { Comm, CommOptions, KernelHost, MimeBundle } from "../../host/host.js";

type Content = Record<string, unknown>;

interface DisplayOptions {
  raw?: boolean;
  update?: boolean;
  display_id?: string;
}

const record = (value: unknown): Content =>
  typeof value === "object" && value !== null ? { ...value } : {};
const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

const template =
  (mime: string) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Rich => {
    const written = String.raw({ raw: strings }, ...values);
    return new Rich({ [mime]: written, "text/plain": written });
  };

function image(pathOrBytes: string | Uint8Array): Rich {
  const bytes = typeof pathOrBytes === "string" ? readFileSync(pathOrBytes) : pathOrBytes;
  const mime = sniffImage(bytes);
  if (mime === undefined) {
    const got = typeof pathOrBytes === "string" ? pathOrBytes : `${bytes.length} other bytes`;
    throw new TypeError(`Cannot show an image: it must be PNG, JPEG, GIF or WebP, got ${got}`);
  }
  return new Rich({ [mime]: base64(bytes) });
}

async function format(obj: unknown): Promise<MimeBundle> {
  const { formatValue } = await import("../../display/format.js");
  return (await formatValue(obj)) ?? {};
}

async function display(to: KernelHost, obj: unknown, options: DisplayOptions): Promise<void> {
  const { raw, update, display_id: id } = options;
  const bundle = raw && !isDisplayable(obj) ? normalizeBundle(obj) : await format(obj);
  to.display(bundle, { id, update });
}

/** What each message of the protocol is on this kernel's host. */
const messages: Record<string, (to: KernelHost, content: Content, sent: CommOptions) => void> = {
  display_data: (to, content) => show(to, content, false),
  update_display_data: (to, content) => show(to, content, true),
  clear_output: (to, content) => to.clearOutput(content["wait"] === true),
  stream: (to, content) =>
    to.stream(content["name"] === "stderr" ? "stderr" : "stdout", text(content["text"]) ?? ""),
  comm_open: (to, content, sent) => {
    const id = text(content["comm_id"]);
    to.comms.open(text(content["target_name"]) ?? "", record(content["data"]), { ...sent, id });
  },
  comm_msg: (to, content, sent) => commOf(to, content).send(record(content["data"]), sent),
  comm_close: (to, content, sent) => commOf(to, content).close(record(content["data"]), sent),
};

function show(to: KernelHost, content: Content, update: boolean): void {
  const id = text(record(content["transient"])["display_id"]);
  const metadata = record(content["metadata"]);
  to.display(normalizeBundle(content["data"]), { id, update, metadata });
}

function commOf(to: KernelHost, content: Content): Comm {
  const id = text(content["comm_id"]) ?? "";
  const comm = to.comms.all.get(id);
  if (comm === undefined) {
    throw new RangeError(`Cannot broadcast: comm_id must be that of an open comm, got '${id}'`);
  }
  return comm;
}

function broadcast(to: KernelHost, msgType: string, content: Content, sent: CommOptions): void {
  const send = Object.hasOwn(messages, msgType) ? messages[msgType] : undefined;
  if (send === undefined) {
    const known = Object.keys(messages).join(", ");
    throw new TypeError(`Cannot broadcast: msgType must be one of ${known}, got '${msgType}'`);
  }
  send(to, record(content), sent);
}

/** What cells find under `Deno`. */
export interface DenoNames {
  readonly jupyter: Readonly<Record<string, unknown>>;
}

/** The same, showing things on `host`. */
export function denoNames(host: KernelHost): DenoNames {
  const jupyter = Object.freeze({
    $display: displaySymbol,
    display: (obj: unknown, options: DisplayOptions = {}) => display(host, obj, options),
    format,
    md: template("text/markdown"),
    html: template("text/html"),
    svg: template("image/svg+xml"),
    image,
    broadcast: (msgType: string, content: Content, extra: CommOptions = {}) =>
      new Promise<void>((sent) => sent(broadcast(host, msgType, content, extra))),
  });
  return Object.freeze({ jupyter });
}
