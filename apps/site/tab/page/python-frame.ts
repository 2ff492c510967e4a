// Python's place in the page: a frame without origin, in a frame that lets it go nowhere.
import type { Ask, FromWorker, PythonAssets, ToFrame } from "../python/messages.js";

const nonce = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("");
const quoted = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/**
 * A document of which nothing leads out: no origin, so none of its databases and files; scripts are this one and
 * blobs, workers also those of `data:`, which have this policy as well; connections are none. The one around it forbids frames, so that the inner one cannot be led elsewhere.
 */
export function sandboxPage(program: string): string {
  const once = nonce();
  const policy = `default-src 'none'; script-src 'nonce-${once}' blob: 'wasm-unsafe-eval'; worker-src blob: data:`;
  const head = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const inner = `${head}<script nonce="${once}">${program.replaceAll("</", "<\\/")}</script>`;
  return `${head}<iframe sandbox="allow-scripts" srcdoc="${quoted(inner)}"></iframe>`;
}

/** Opens that document, hidden; gives the port that its program listens at. */
export async function openSandboxFrame(program: string): Promise<MessagePort> {
  const outer = document.createElement("iframe");
  outer.setAttribute("sandbox", "allow-scripts");
  outer.title = "Python";
  outer.hidden = true;
  outer.srcdoc = sandboxPage(program);
  const loaded = new Promise((done) => (outer.onload = done));
  document.body.append(outer);
  await loaded;
  const { port1, port2 } = new MessageChannel();
  outer.contentWindow!.frames[0]!.postMessage("here", "*", [port2]);
  return port1;
}

/** Interpreters for the kernels of a page. What they are made of is fetched when the first one is asked for. */
export class PythonFrame {
  readonly #base: string;
  readonly #kernels = new Map<number, { port: MessagePort; running: Set<string> }>();
  #opened: Promise<MessagePort> | undefined;
  #packages: Promise<void> | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  /** Hears what a kernel asks. */
  add(kernel: number, port: MessagePort): void {
    const running = new Set<string>();
    this.#kernels.set(kernel, { port, running });
    port.onmessage = ({ data, ports: [worker] }: MessageEvent<Ask<number>>) => {
      const id = `${kernel} ${data.id}`;
      if (data.kind === "start") {
        running.add(id);
        void this.#start({ ...data, id }, worker!, running);
      } else void this.#end(id, running);
    };
  }

  /** Ends what a kernel started that is gone. */
  remove(kernel: number): void {
    const gone = this.#kernels.get(kernel);
    this.#kernels.delete(kernel);
    gone?.port.close();
    for (const id of gone?.running ?? []) void this.#end(id, gone!.running);
  }

  /** Fetches ahead what the first interpreter needs. */
  async fetchAhead(): Promise<void> {
    await this.#open().catch(() => undefined); // whoever needs it is told
  }

  async #start(
    asked: Extract<ToFrame, { kind: "start" }>,
    port: MessagePort,
    running: Set<string>,
  ) {
    try {
      const frame = await this.#open();
      if (asked.settings.preload !== undefined) await this.#withPackages(frame);
      if (running.has(asked.id)) frame.postMessage(asked, [port]);
    } catch (error) {
      const fatal = error instanceof Error ? error.message : String(error);
      port.postMessage({ id: -1, fatal } satisfies FromWorker);
    }
  }

  async #end(id: string, running: Set<string>): Promise<void> {
    if (!running.delete(id)) return;
    (await this.#opened)?.postMessage({ kind: "end", id } satisfies ToFrame);
  }

  #open(): Promise<MessagePort> {
    const opened = (this.#opened ??= this.#make());
    opened.catch(() => (this.#opened = undefined)); // the next one tries again
    return opened;
  }

  async #make(): Promise<MessagePort> {
    const [program, script, wasm, library, lock] = await Promise.all([
      this.#fetch("scripts/python-frame.js").then((answer) => answer.text()),
      this.#fetch("scripts/python-worker.js").then((answer) => answer.text()),
      this.#fetch("python/pyodide.asm.wasm").then((answer) => answer.arrayBuffer()),
      this.#fetch("python/python_stdlib.zip").then((answer) => answer.arrayBuffer()),
      this.#fetch("python/pyodide-lock.json").then((answer) => answer.text()),
    ]);
    const frame = await openSandboxFrame(program);
    const assets: PythonAssets = { script, wasm, library, lock };
    frame.postMessage({ kind: "assets", assets } satisfies ToFrame, [wasm, library]);
    return frame;
  }

  #withPackages(frame: MessagePort): Promise<void> {
    this.#packages ??= this.#fetch("python/packages.zip")
      .then((answer) => answer.arrayBuffer())
      .then((packages) =>
        frame.postMessage({ kind: "packages", packages } satisfies ToFrame, [packages]),
      );
    this.#packages.catch(() => (this.#packages = undefined));
    return this.#packages;
  }

  async #fetch(name: string): Promise<Response> {
    const answer = await fetch(new URL(name, this.#base));
    if (!answer.ok) throw new Error(`${name} must be there, got status ${answer.status}`);
    return answer;
  }
}
