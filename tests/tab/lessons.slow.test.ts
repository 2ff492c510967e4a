import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test, { after, before } from "node:test";
import type { TabBrowser } from "./browsers/driven.js";
import { openBrowser } from "./browsers/open-browser.js";
import { type Json, TabKernel } from "./tab-kernel.js";

const root = new URL("../../../", import.meta.url);
const { carried, steady } = (await import(new URL("tools/lessons/said.mjs", root).href)) as {
  carried: (outputs: readonly Json[]) => Json[];
  steady: (text: string) => string;
};

interface Cell {
  id: string;
  cell_type: string;
  source: string | string[];
  outputs: Json[];
}

/** Cells whose text is not Node's, and why; each still has to run. */
const otherwise: Readonly<Record<string, string>> = {
  "01 entropy": "shows a Math.exp, whose last bit is this browser's",
  "14 curves": "says where the picture is, which a tab does not carry",
};

/** Cells that cannot run in a tab, and what they say. */
const refused: Readonly<Record<string, RegExp>> = {
  "14 chat":
    /^Cannot import arpo-lab\/experimental\/serve: it is for machines, and a browser tab has none$/,
};

const text = (value: unknown): string => [value ?? ""].flat().join("");

/** A tab knows no CPU seconds: a board may be lower by the panel that shows them. */
const withoutCpu = (said: string): string =>
  said
    .replace(/\\n +CPU seconds: #| +'perf\/cpu_seconds': #,\\n/g, "")
    .replace(/viewBox=\\"0 0 990 \d+\\" width=\\"990\\" height=\\"\d+\\"/g, "board");

/**
 * Outputs without what depends on how they were cut into lines and streams, and without displays that were emptied,
 * such as a finished progress bar: `arpo-lab run` does not save those.
 */
function plain(outputs: readonly Json[]): unknown[] {
  const lasting = outputs.filter(
    ({ output_type, data }) =>
      output_type !== "display_data" || Object.values(data as Json).some((value) => text(value)),
  );
  return lasting.map(({ output_type, data, text: said, name }) =>
    data === undefined
      ? { output_type, name, said: text(said) }
      : {
          output_type,
          data: Object.fromEntries(
            Object.entries(data as Json).map(([type, value]) => [type, text(value)] as const),
          ),
        },
  );
}

let browser: TabBrowser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

const lessons = readdirSync(new URL("notebooks/", root)).filter((name) => name.endsWith(".ipynb"));
for (const lesson of lessons) {
  test(`lesson ${lesson}: every cell runs in the tab, and says what it says in Node`, async () => {
    const { cells } = JSON.parse(readFileSync(new URL(`notebooks/${lesson}`, root), "utf8")) as {
      cells: Cell[];
    };
    const kernel = await TabKernel.start(browser, true);
    const faults: string[] = [];
    try {
      for (const cell of cells) {
        if (cell.cell_type !== "code") continue;
        const id = await kernel.begin(text(cell.source));
        const { reply } = await kernel.finish(id);
        const name = `${lesson.slice(0, 2)} ${cell.id}`;
        const why = refused[name];
        if (why !== undefined) {
          assert.match(text(reply["evalue"]), why);
        } else if (reply["status"] !== "ok") {
          faults.push(`${name}: ${text(reply["evalue"]) || text(reply["traceback"])}`);
        }
        if (reply["status"] !== "ok") continue;
        const [said = "", kept = ""] = [carried(kernel.outputs(id)), cell.outputs].map((outputs) =>
          withoutCpu(steady(JSON.stringify(plain(outputs)))),
        );
        if (said !== kept && otherwise[name] === undefined) {
          const from = [...said].findIndex((letter, i) => letter !== kept[i]);
          const part = (whole: string) => whole.slice(Math.max(0, from - 60), from + 120);
          faults.push(`${name}: here ${part(said)}, in Node ${part(kept)}`);
        }
      }
      assert.deepEqual(faults, []);
    } finally {
      await kernel.stop();
    }
  });
}
