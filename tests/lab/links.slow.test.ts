// Links and pictures whose address is relative: in lessons, in Markdown files and in outputs.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const text = (path: string): string => readFileSync(join(root, path), "utf8");

interface Link {
  cell: number;
  words: string;
  target: string;
}

/** The links to files in a lesson's Markdown. */
function linksOf(lesson: string): Link[] {
  const { cells } = JSON.parse(text(lesson)) as {
    cells: { cell_type: string; source: string | string[] }[];
  };
  return cells.flatMap(({ cell_type, source }, cell) =>
    cell_type !== "markdown"
      ? []
      : [
          ...[source]
            .flat()
            .join("")
            .matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g),
        ]
          .filter(([, , address]) => !/^\w+:/.test(address!))
          .map(([, words, address]) => ({
            cell,
            words: words!.replace(/[*_`]/g, ""),
            target: posix.join(posix.dirname(lesson), address!),
          })),
  );
}

const lessons = readdirSync(join(root, "notebooks"))
  .filter((name) => name.endsWith(".ipynb"))
  .map((name) => `notebooks/${name}`);
const links = new Map(lessons.map((lesson) => [lesson, linksOf(lesson)]));

interface Shell {
  currentWidget: {
    context?: { path: string };
    content: { scrollToItem(index: number, how: string): Promise<void> };
  } | null;
}
/** Only in the page. */
declare const jupyterapp: {
  shell: Shell;
  serviceManager: { sessions: { shutdownAll(): Promise<void> } };
};

const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
const markdown = (source: string): Record<string, unknown> => ({
  cell_type: "markdown",
  id: "m",
  metadata: {},
  source,
});

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const files: Record<string, string | Uint8Array> = {
    "deep/beside.ipynb": notebookFile([
      markdown("![a dot](pictures/dot.png) and [there](../notes.md)"),
      {
        ...codeCell("c", "1"),
        outputs: [
          {
            output_type: "display_data",
            metadata: {},
            data: { "text/html": '<img alt="shown" src="pictures/dot.png">' },
          },
        ],
      },
    ]),
    "deep/pictures/dot.png": Buffer.from(dot, "base64"),
    "notes.md": "![a dot](deep/pictures/dot.png)\n\n[Back](deep/beside.ipynb)\n",
  };
  for (const path of [...lessons, ...[...links.values()].flat().map(({ target }) => target)])
    files[path] = text(path);
  lab = await BrowserLab.start(files);
  tab = await lab.tab();
});
after(async () => {
  // JupyterLab's own, of notebooks that are closed while their kernels start.
  const closing =
    /^error: (Disposed|Canceled|Cannot read properties of null)|^404 .*\/api\/(kernels|sessions)\//;
  if (skip === false) await lab.stop(closing);
});

const opened = async (path: string): Promise<void> => {
  await tab.page.waitForFunction(
    (wanted) => jupyterapp.shell.currentWidget?.context?.path === wanted,
    path,
  );
};
const drawn = async (selector: string): Promise<void> => {
  await tab.page.waitForFunction(
    (which) => (document.querySelector<HTMLImageElement>(which)?.naturalWidth ?? 0) > 0,
    selector,
  );
};
/** Closes what is open, and ends its kernels, which nothing here needs. */
const tidy = async (): Promise<void> => {
  await tab.command("docmanager:save-all"); // what is not saved is asked about
  await tab.command("application:close-all");
  await tab.page.evaluate(() => jupyterapp.serviceManager.sessions.shutdownAll());
};

test("a picture beside a notebook is shown, in Markdown and in an output", { skip }, async () => {
  await tab.open("deep/beside.ipynb");
  await drawn('img[alt="a dot"]');
  await drawn('img[alt="shown"]');
  await tab.picture("pictures-beside");
});

test("a link leads to a Markdown file, whose link leads back", { skip }, async () => {
  await tab.page.click('.jp-MarkdownCell a:text("there")');
  await opened("notes.md");
  await tab.command("markdownviewer:open", { path: "notes.md" });
  await drawn('.jp-MarkdownViewer img[alt="a dot"]');
  await tab.page.click('.jp-MarkdownViewer a:text("Back")');
  await opened("deep/beside.ipynb");
  await tidy();
});

for (const [lesson, all] of links) {
  test(`each link of ${lesson} opens what it names`, { skip }, async () => {
    for (const { cell, words, target } of all) {
      await tab.command("docmanager:open", { path: lesson });
      await opened(lesson);
      await tab.page.waitForSelector(`${tab.cell(1)} .jp-RenderedMarkdown`);
      await tab.page.evaluate(
        (index) => jupyterapp.shell.currentWidget!.content.scrollToItem(index, "center"),
        cell,
      );
      const link = tab.page
        .locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-RenderedMarkdown a")
        .filter({ hasText: words });
      await link.first().click();
      await opened(target);
    }
    await tidy();
  });
}

test("every lesson but the last leads on", () => {
  const last = lessons.at(-1)!;
  const without = lessons.filter(
    (lesson, i) => lesson !== last && !links.get(lesson)!.some((l) => l.target === lessons[i + 1]),
  );
  assert.deepEqual(without, []);
});
