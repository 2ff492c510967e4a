import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { homePath } from "../../src/files/home-path.js";
import { fillIn } from "../../src/import/fill-in.js";
import { importRollouts } from "../../src/import/import-rollouts.js";
import type { ImportedRollouts } from "../../src/import/imported-rollouts.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { modelFolder } from "../../src/model/files/model-folder.js";
import { Policy } from "../../src/policy/policies.js";
import { writeWhole } from "../../src/run/folder/run-folder.js";
import { board } from "../../src/view/board/board.js";
import { explore } from "../../src/view/explorer/explore.js";
import { showImported } from "../../src/view/imported/imported-view.js";
import { toHtml } from "../../src/view/export/to-html.js";
import { openBrowser } from "../lab/open-browser.js";
import { aside, say } from "../say.js";
import { stoppable } from "../stopping.js";
import { ViewServer } from "./view-server.js";

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

/** Whether a folder is a run of this package, which the board reads by itself. */
function isRun(path: string): boolean {
  const folder = resolve(homePath(path));
  return (
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true &&
    ["config.yaml", "metrics.jsonl"].every((name) => existsSync(join(folder, name)))
  );
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

async function read(path: string, options: ViewCommandOptions, signal: AbortSignal) {
  const { format, score, rows, temperature } = options;
  const policy =
    options.policy === undefined ? undefined : await Policy.load(modelFolder(options.policy));
  const tokenizer =
    options.tokenizer === undefined
      ? undefined
      : await HfTokenizer.load(modelFolder(options.tokenizer));
  let said = performance.now();
  const now = (line: () => string) => {
    if (performance.now() - said < 1000) return;
    said = performance.now();
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
      onProgress: (done, of) => now(() => `scored ${done} of ${of} prompts`),
    });
  } finally {
    policy?.dispose();
  }
}

function shownImport(imported: ImportedRollouts): Shown {
  return {
    page: (served) =>
      Promise.resolve(
        toHtml(
          showImported(imported, {
            id: "rollouts",
            ...(served ? { address: (prompt: number) => `tree/${prompt}` } : {}),
          }),
        ),
      ),
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
  if (isRun(path)) shown = { page: () => toHtml(board(path)) };
  else {
    const imported = await read(path, options, signal);
    say(String(imported));
    shown = shownImport(imported);
  }
  if (options.out !== undefined) {
    const out = resolve(options.out);
    await writeWhole(out, await shown.page(false));
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
