import { inputNow, type InputPort } from "#kernel-platform/input";
import type { CellIdentity, DisplayOptions, KernelHost, MimeBundle } from "../host/host.js";
import { InterruptError } from "../host/interrupt-error.js";
import { WORDS, type InputAnswer } from "../contract/bridge.js";
import { currentCell } from "./cell.js";
import type { Channel } from "./channel.js";
import type { CommTable } from "./comm-table.js";
import type { Tracebacks } from "./traceback.js";

/** What the host is made of. */
export interface HostParts {
  channel: Channel;
  comms: CommTable;
  words: Int32Array;
  /** Answers to `input` arrive here and nowhere else. */
  inputPort: InputPort;
  tracebacks: Tracebacks;
}

/** The kernel as the code in its cells sees it. */
export class Host implements KernelHost {
  readonly comms: CommTable;
  readonly interruptFlag: Int32Array;
  readonly #channel: Channel;
  readonly #words: Int32Array;
  readonly #inputPort: InputPort;
  readonly #tracebacks: Tracebacks;

  constructor({ channel, comms, words, inputPort, tracebacks }: HostParts) {
    this.comms = comms;
    this.interruptFlag = words.subarray(WORDS.interrupt, WORDS.interrupt + 1);
    this.#channel = channel;
    this.#words = words;
    this.#inputPort = inputPort;
    this.#tracebacks = tracebacks;
  }

  cell(): CellIdentity | undefined {
    return currentCell();
  }

  frames(error: Error): string[] {
    return this.#tracebacks.frames(error);
  }

  display(bundle: MimeBundle, options: DisplayOptions = {}): void {
    const { id: displayId, update = false, metadata = {} } = options;
    if (update && displayId === undefined) {
      throw new TypeError("Cannot update a display: options.id must be given, got undefined");
    }
    const id = currentCell()?.id ?? "";
    this.#channel.send({ type: "display", id, bundle, metadata, displayId, update });
  }

  clearOutput(wait = false): void {
    this.#channel.send({ type: "clear", id: currentCell()?.id ?? "", wait });
  }

  stream(name: "stdout" | "stderr", text: string): void {
    this.#channel.stream(currentCell()?.id ?? "", name, text);
  }

  input(prompt: string, { password = false } = {}): Promise<string> {
    const cell = this.#askable();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#inputPort.off("message", answer);
        this.#inputPort.unref();
        cell.signal.removeEventListener("abort", interrupted);
      };
      const answer = (message: InputAnswer): void => {
        stop();
        if (message.ok) resolve(message.text);
        else reject(new Error(message.reason));
      };
      const interrupted = (): void => {
        stop();
        reject(cell.signal.reason as Error);
      };
      this.#inputPort.on("message", answer);
      cell.signal.addEventListener("abort", interrupted);
      this.#channel.send({ type: "input", id: cell.id, prompt, password });
    });
  }

  inputSync(prompt: string, { password = false } = {}): string {
    const cell = this.#askable();
    const seen = Atomics.load(this.#words, WORDS.inputs);
    this.#channel.send({ type: "input", id: cell.id, prompt, password });
    for (;;) {
      const received = inputNow(this.#inputPort);
      if (received?.ok) return received.text;
      if (received) throw new Error(received.reason);
      this.checkInterrupt();
      Atomics.wait(this.#words, WORDS.inputs, seen, 50);
    }
  }

  checkInterrupt(): void {
    if (this.interruptFlag[0] !== 0) throw new InterruptError();
  }

  #askable(): CellIdentity {
    const cell = currentCell();
    if (cell === undefined) throw new Error("Cannot ask for input: only a cell can, got none");
    if (!cell.allowStdin) {
      throw new Error("Cannot ask for input: this front end does not take input requests");
    }
    return cell;
  }
}
