import { leaveAnswer, makeWords } from "../../../../kernel/browser/input.js";
import { tabPort } from "../../../../kernel/browser/port.js";
import type { InputAnswer } from "../../../../kernel/contract/bridge.js";
import type { FrameSocket } from "../../../../kernel/contract/sockets.js";
import type { Frames } from "../../../../kernel/server/kernels/codec.js";
import type { Launch } from "../../../../kernel/server/kernels/launched.js";
import { Encoder, type Signs } from "../../../../kernel/wire/message.js";
import { WireKernel } from "../../../../kernel/wire/wire-kernel.js";
import { utf8Bytes, utf8Text } from "../../../../common/platform/browser/bytes.js";
import { home, sharedNames } from "../files/share-data.js";
import type { SharedFiles } from "../files/shared-files.js";
import type { KernelParts, Place } from "./thread-data.js";

/** A socket within a page: what is delivered is read in order, what is sent is handed on at once. */
class QueueSocket implements FrameSocket {
  readonly #sent: (frames: Uint8Array[]) => void;
  #waiting: Uint8Array[][] = [];
  #wake: (() => void) | undefined;
  closed = false;

  constructor(sent: (frames: Uint8Array[]) => void) {
    this.#sent = sent;
  }

  deliver(frames: Uint8Array[]): void {
    this.#waiting.push(frames);
    this.#wake?.();
  }

  send(frames: Uint8Array[]): Promise<void> {
    if (!this.closed) this.#sent(frames);
    return Promise.resolve();
  }

  close(): void {
    this.closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array[]> {
    while (!this.closed) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}

/** Nobody comes between the threads of one page. */
const trusting: Signs = { sign: () => "", verify: () => true };
const delimiter = "<IDS|MSG>";

function toFrames(channel: Frames["channel"], frames: Uint8Array[]): Frames {
  const at = frames.findIndex((frame) => utf8Text(frame) === delimiter);
  const [, header, parent, metadata, content, ...buffers] = frames.slice(at + 1);
  return {
    channel,
    header: header!,
    parent: parent!,
    metadata: metadata!,
    content: content!,
    buffers,
  };
}

/**
 * Starts kernels as threads: one for cells, one for the compiler. `inPage` asks the page for them, and gives
 * what ends them.
 */
export function launchIn(
  place: Place,
  files: SharedFiles,
  inPage: (parts: KernelParts, ports: MessagePort[]) => () => void,
): Launch {
  return (spec, folder, receive) => {
    const socket = (channel: Frames["channel"] | undefined) =>
      new QueueSocket((frames) => {
        if (channel !== undefined) receive(toFrames(channel, frames));
      });
    const sockets = {
      shell: socket("shell"),
      control: socket("control"),
      stdin: socket("stdin"),
      iopub: socket("iopub"),
      heartbeat: socket(undefined),
    };
    const encoder = new Encoder(trusting);
    const words = makeWords();
    const language = spec.language === "javascript" ? "javascript" : "typescript";
    const channel = () => new MessageChannel();
    const [wire, mine, input, fromCells] = [channel(), channel(), channel(), channel()];
    const [cellsFiles, compilerFiles] = [channel(), channel()];
    const [python, more, failed] = [channel(), channel(), channel()];

    const callers = [mine.port2, fromCells.port2];
    const own = {
      wire: wire.port2,
      compiler: fromCells.port1,
      input: input.port2,
      python: python.port2,
      threads: more.port2,
      files: cellsFiles.port2,
    };
    const threads: KernelParts["threads"] = [
      {
        name: "compiler.js",
        data: { place, folder, language, callers, files: compilerFiles.port2 },
        ports: [...callers, compilerFiles.port2],
      },
      { name: "cells.js", data: { place, folder, words, ...own }, ports: Object.values(own) },
    ];
    const outer = { python: python.port1, more: more.port1, failed: failed.port1 };
    const ports = [...threads.flatMap((thread) => thread.ports), ...Object.values(outer)];
    const leave = inPage({ threads, ...outer }, ports);
    files.add(cellsFiles.port1);
    files.add(compilerFiles.port1);
    for (const { port1 } of [cellsFiles, compilerFiles]) files.tellAll(port1, home, sharedNames);

    let alive = true;
    let ended: () => void = () => undefined;
    const end = (): void => {
      if (!alive) return;
      alive = false;
      for (const port of [cellsFiles.port1, compilerFiles.port1]) files.remove(port);
      leave();
      ended();
    };
    failed.port2.onmessage = (event: MessageEvent<string>) => {
      if (event.data === "cells.js") end();
    };
    const kernel = new WireKernel({
      sockets,
      signer: trusting,
      data: { words, language },
      main: tabPort(wire.port1),
      compiler: tabPort(mine.port1),
      input: {
        postMessage: (answer) => {
          leaveAnswer(words, answer as InputAnswer);
          input.port1.postMessage(answer);
        },
      },
      outside: {
        force: {},
        history: undefined,
        folder: () => folder,
        onInterrupt: () => undefined,
        onGone: () => undefined,
        close: () => undefined,
        end,
      },
    });
    kernel.start();
    return Promise.resolve({
      get alive() {
        return alive;
      },
      ended: new Promise<void>((done) => (ended = done)),
      signal: (name) => {
        if (name === "SIGKILL") end();
      },
      send: ({ channel, header, parent, metadata, content, buffers }) => {
        if (channel !== "iopub") {
          const parts = [header, parent, metadata, content];
          const head = [utf8Bytes(delimiter), new Uint8Array()];
          sockets[channel].deliver([...head, ...parts, ...buffers]);
        }
        return Promise.resolve();
      },
      ask: (channel, type, content) => {
        sockets[channel].deliver(encoder.encode({ type, content, parent: undefined }, []));
        return Promise.resolve();
      },
      close: () => {
        for (const each of Object.values(sockets)) each.close();
      },
    });
  };
}
