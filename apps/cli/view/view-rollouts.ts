import { ErrorResponse, toErrorResponse } from "../../../common/http-server/error-response.js";
import { Guard } from "../../../kernel/server/http/guard.js";
import { homePath } from "../../../src/base/files/home-path.js";
import { fillIn } from "../../../src/formats/fill-in.js";
import { findingLines, findingsOf } from "../../../src/formats/findings-of.js";
import { importRollouts } from "../../../src/formats/import-rollouts.js";
import type { ImportedRollouts } from "../../../src/formats/imported-rollouts.js";
import { modelFolder } from "../../../src/model/files/model-folder.js";
import { HfTokenizer } from "../../../src/model/tokenizer/hf-tokenizer.js";
import type { Tokenizer } from "../../../src/model/tokenizer/tokenizer.js";
import { Policy } from "../../../src/policy/policies.js";
import { writeDurably } from "../../../common/files/durable.js";
import { board } from "../../../src/view/board/board.js";
import { readRunFolder } from "../../../src/view/board/read-folder.js";
import { explore } from "../../../src/view/explorer/explore.js";
import { toHtml } from "../../../src/view/export/to-html.js";
import { showImported } from "../../../src/view/imported/imported-view.js";
import { openBrowser } from "../lab/open-browser.js";
import { aside, say } from "../terminal/say.js";
import { stoppable } from "../terminal/stopping.js";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";

/** What is served. */
interface ViewPages {
  page: string;
  /** The page of one prompt's tree; undefined where there is no such prompt. */
  tree?: ((index: number) => string | undefined) | undefined;
  port: number;
}

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // Pages hold what strangers' files say: nothing of them may ask anything of anybody.
  "content-security-policy":
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
};

/** Serves pages on this machine alone, to whoever has the token of the address. */
export class ViewServer {
  readonly #guard = new Guard(randomBytes(24).toString("hex"), []);
  readonly #server: Server;
  readonly #pages: ViewPages;

  private constructor(pages: ViewPages) {
    this.#pages = pages;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  /** Starts to listen. */
  static async start(pages: ViewPages): Promise<ViewServer> {
    const made = new ViewServer(pages);
    await new Promise<void>((listening, failed) => {
      made.#server.once("error", failed);
      made.#server.listen(pages.port, "127.0.0.1", listening);
    });
    made.#guard.port = made.port;
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address, with the token. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/?token=${this.#guard.token}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      const url = new URL(request.url ?? "/", `http://127.0.0.1:${this.port}`);
      if (request.method !== "GET" && request.method !== "HEAD") {
        throw new ErrorResponse(405, `Cannot ${request.method}: pages are only read`);
      }
      const by = this.#guard.check(request, url);
      const page = this.#page(url.pathname);
      if (page === undefined) throw new ErrorResponse(404, `Cannot find ${url.pathname}`);
      response.writeHead(200, {
        ...headers,
        // Links within the pages carry no token: the cookie stands for it.
        ...(by === "token" ? { "set-cookie": this.#guard.cookies() } : {}),
      });
      response.end(request.method === "HEAD" ? undefined : page);
    } catch (error) {
      const { status, message } = toErrorResponse(error);
      response.writeHead(status, { ...headers, "content-type": "text/plain; charset=utf-8" });
      response.end(message);
    }
  }

  #page(path: string): string | undefined {
    if (path === "/") return this.#pages.page;
    const index = /^\/tree\/(\d{1,9})$/.exec(path)?.[1];
    return index === undefined ? undefined : this.#pages.tree?.(Number(index));
  }
}

export interface ViewCommandOptions {
  format?: string;
  tokenizer?: string;
  policy?: string;
  temperature: number;
  score?: string[];
  rows: number;
  out?: string;
  port?: number;
  browser: boolean;
}

/** What is shown: a page, and pages of trees that it has no room for. */
interface Shown {
  page: (served: boolean) => Promise<string>;
  tree?: (index: number) => string | undefined;
}

/** What the folders of runs, of fine-tuning and of sweeps hold. */
const marks = [["config.yaml", "metrics.jsonl"], ["trainer_log.jsonl"], ["sweep.json"]];

/** Whether a folder is of this package, so that the board reads it by itself. */
function isRun(path: string): boolean {
  const folder = resolve(homePath(path));
  return (
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true &&
    marks.some((names) => names.every((name) => existsSync(join(folder, name))))
  );
}

/** Where a run keeps its rollouts; undefined where it keeps none. */
function rolloutsOf(run: string): string | undefined {
  const folder = join(resolve(homePath(run)), "rollouts");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.some((name) => /\.(?:jsonl|parquet)$/.test(name)) ? folder : undefined;
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

/** The rollouts of a path; `own` is their run's tokenizer. */
async function read(
  path: string,
  options: ViewCommandOptions,
  signal: AbortSignal,
  own?: Tokenizer,
): Promise<ImportedRollouts> {
  const { format, score, rows, temperature } = options;
  const policy =
    options.policy === undefined ? undefined : await Policy.load(modelFolder(options.policy));
  const tokenizer =
    options.tokenizer === undefined ? own : await HfTokenizer.load(modelFolder(options.tokenizer));
  let said = performance.now();
  let isSaid = false;
  // Once a second; whoever has read of a beginning reads of its end too.
  const now = (line: () => string, isLast = false) => {
    if (isLast ? !isSaid : performance.now() - said < 1000) return;
    said = performance.now();
    isSaid = true;
    aside(line());
  };
  try {
    const imported = await importRollouts(path, {
      ...{ rows, signal },
      format,
      score,
      tokenizer,
      policy,
      onProgress: ({ bytes, of, rows: read }) =>
        now(() => `read ${megabytes(bytes)} of ${megabytes(of)}, ${read} rows`),
    });
    if (!policy) return imported;
    return await fillIn(imported, policy, {
      ...{ temperature, signal },
      onProgress: (done, of) => now(() => `scored ${done} of ${of} prompts`, done === of),
    });
  } finally {
    policy?.dispose();
  }
}

/** A page of rollouts; of a run, its board stands above them. */
function shownImport(imported: ImportedRollouts, run?: string): Shown {
  return {
    page: async (served) => {
      const view = showImported(imported, {
        ...{ id: "rollouts", board: run === undefined },
        ...(served ? { address: (prompt: number) => `tree/${prompt}` } : {}),
      });
      if (run === undefined) return toHtml(view);
      const above = await board(run).html();
      return toHtml({ html: () => above + view.html() });
    },
    tree: (index) => {
      if (!imported.prompts[index]) return undefined;
      const [scored, batch] = [imported.scoredOf(index), imported.batchOf(index)];
      const tree = imported.tree(index) as unknown as Parameters<typeof explore>[0];
      return toHtml(explore(tree, { scored, batch }));
    },
  };
}

/** `arpo-lab view`: reads, says what it found, and writes a page or serves it until it is told to stop. */
export async function viewRollouts(path: string, options: ViewCommandOptions): Promise<void> {
  const signal = stoppable("early");
  let shown: Shown;
  const own = isRun(path) ? rolloutsOf(path) : path;
  if (own === undefined) shown = { page: () => toHtml(board(path)) };
  else if (own !== path) {
    const { tokenizer } = await readRunFolder("run", path);
    shown = shownImport(await read(own, options, signal, tokenizer), path);
  } else {
    const imported = await read(path, options, signal);
    say(String(imported));
    say(findingLines(findingsOf(imported)));
    shown = shownImport(imported);
  }
  if (options.out !== undefined) {
    const out = resolve(options.out);
    await writeDurably(out, await shown.page(false));
    say(`page: ${out}`);
    return;
  }
  const page = await shown.page(true);
  const server = await ViewServer.start({ page, tree: shown.tree, port: options.port ?? 0 });
  say(`Ctrl-C stops it.\n${server.url}`);
  if (options.browser) openBrowser(server.url);
  if (!signal.aborted) {
    await new Promise((stop) => signal.addEventListener("abort", stop, { once: true }));
  }
  await server.stop();
}
