import {
  type CellIdentity,
  type Comms,
  type DisplayOptions,
  type KernelHost,
  type MimeBundle,
  setCurrentHost,
} from "../../kernel/host/host.js";

/** One call that the host received. */
export interface HostCall {
  kind: "display" | "clear" | "stream";
  bundle?: MimeBundle;
  options?: DisplayOptions;
  wait?: boolean;
  text?: string;
}

/** A host that writes down what it is asked, for tests. */
export class FakeHost implements KernelHost {
  readonly calls: HostCall[] = [];
  readonly answers: string[] = [];
  readonly interruptFlag = new Int32Array(1);
  readonly #comms: Comms | undefined;
  identity: CellIdentity = { id: "run-1", count: 1, signal: new AbortController().signal };

  constructor(comms?: Comms) {
    this.#comms = comms;
  }

  /** Runs a test's body inside this host. */
  async within<T>(body: () => T | Promise<T>): Promise<T> {
    setCurrentHost(this);
    try {
      return await body();
    } finally {
      setCurrentHost(undefined);
    }
  }

  get comms(): Comms {
    if (this.#comms === undefined) throw new Error("this fake host has no comms");
    return this.#comms;
  }
  display(bundle: MimeBundle, options?: DisplayOptions): void {
    this.calls.push({ kind: "display", bundle, options });
  }
  clearOutput(wait?: boolean): void {
    this.calls.push({ kind: "clear", wait });
  }
  stream(_name: "stdout" | "stderr", text: string): void {
    this.calls.push({ kind: "stream", text });
  }
  input(prompt: string): Promise<string> {
    return Promise.resolve(this.inputSync(prompt));
  }
  inputSync(prompt: string): string {
    const answer = this.answers.shift();
    if (answer === undefined) throw new Error(`nobody answers '${prompt}'`);
    return answer;
  }
  frames(): string[] {
    return ["    at cell 1, line 1:1"];
  }
  cell(): CellIdentity {
    return this.identity;
  }
  checkInterrupt(): void {
    if (this.interruptFlag[0] !== 0) throw new Error("interrupted");
  }
}
