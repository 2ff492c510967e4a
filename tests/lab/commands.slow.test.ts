// What comes with a notebook does nothing by itself: no command, no form, no other page, nothing that lies
// over the page; in Markdown cells, in outputs, and in HTML that was run here.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const run = "notebook:run-all-cells";
/** Each has an element of class `bait` to click. */
const baits = [
  `<button class="bait" data-commandlinker-command="${run}">run</button>`,
  `<button class="bait" data-commandlinker-command="${run}" data-commandlinker-args='{"a":1}'><b>run</b></button>`,
  `<a class="bait" href="#top" data-commandlinker-command="${run}">run</a>`,
  `<span class="bait" data-jupyter-action="${run}" data-command="${run}" data-jp-command="${run}">run</span>`,
  `<a class="bait" href="command:${run}">run</a>`,
  `<a class="bait" href="#command:${run}">run</a>`,
  `<a class="bait" href="javascript:void(window.struck=1)">run</a>`,
  `<a class="bait" href="&#106;avascript:window.struck=1">run</a>`,
  `<svg><a xlink:href="javascript:window.struck=1"><text class="bait" y="9">run</text></a></svg>`,
  `<svg onload="window.struck=1"><animate onbegin="window.struck=1"/></svg><i class="bait">run</i>`,
  `<img src="data:image/png,x" onerror="window.struck=1"><i class="bait" onclick="window.struck=1">run</i>`,
  `<form action="/lab?struck" method="get"><button class="bait" type="submit">run</button></form>`,
  `<form id="f1"></form><button class="bait" form="f1" formaction="/lab?struck">run</button>`,
  `<iframe srcdoc="<script>parent.struck=1</script>"></iframe><i class="bait">run</i>`,
  `<meta http-equiv="refresh" content="0; url=/lab?struck"><base href="/struck/"><i class="bait">run</i>`,
  `<div class="bait jp-Dialog" style="position:fixed;inset:0;z-index:99999;width:100vw;height:100vh">over</div>`,
  `<div class="bait" style="position:absolute;top:-3000px;left:-3000px;width:9000px;height:9000px;z-index:99999">over</div>`,
];

const markdown = (id: string, source: string): Record<string, unknown> => ({
  cell_type: "markdown",
  id,
  metadata: {},
  source,
});

const stored = (id: string, bundle: Record<string, string>): Record<string, unknown> => ({
  ...codeCell(id, "throw new Error('a stored cell ran')"),
  outputs: [{ output_type: "display_data", data: bundle, metadata: {} }],
});

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [
    codeCell("counts", 'console.log("this cell " + "has run")'),
    ...baits.map((text, i) => markdown(`m${i}`, text)),
    ...baits.map((text, i) => stored(`h${i}`, { "text/html": text })),
    ...baits.map((text, i) => stored(`o${i}`, { "text/markdown": text })),
  ];
  lab = await BrowserLab.start({
    "baits.ipynb": notebookFile(cells),
    "own.ipynb": notebookFile([
      codeCell("own", `import { html } from "arpo-lab/kernel";\nhtml(${JSON.stringify(baits[0])})`),
      codeCell("next", 'console.log("this cell " + "has run")'),
    ]),
  });
  tab = await lab.tab();
});
after(async () => {
  if (skip === false) await lab.stop();
});

/** Clicks every bait where it stands; a click that something else gets counts as one as well. */
const strike = async (): Promise<number> =>
  await tab.page.evaluate(async () => {
    const notebook = document.querySelector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")!;
    const found = new Set<Element>();
    for (let quiet = 0; quiet < 3; quiet++) {
      for (const bait of notebook.querySelectorAll(".bait")) {
        if (found.has(bait)) continue;
        found.add(bait);
        quiet = 0;
        bait.scrollIntoView({ block: "center" });
        (bait.querySelector("b") ?? bait).dispatchEvent(
          new MouseEvent("click", { bubbles: true, cancelable: true }),
        );
        await new Promise(requestAnimationFrame);
      }
      for (let frame = 0; frame < 12; frame++) await new Promise(requestAnimationFrame);
    }
    return found.size;
  });

const ran = async (): Promise<boolean> =>
  (await tab.page.locator(".jp-Notebook").allTextContents()).some((text) =>
    /this cell has run|a stored cell ran/.test(
      text.replace(/throw new Error\('a stored cell ran'\)/g, ""),
    ),
  );

test("nothing that came with a notebook acts when it is clicked", { skip }, async () => {
  await tab.open("baits.ipynb");
  const place = tab.page.url();
  const struck = await strike();
  assert.ok(struck >= baits.length * 2, `${struck} of ${baits.length * 3} were there`);
  assert.equal(await tab.page.locator(".jp-Dialog:not(.bait)").count(), 0);
  assert.equal(tab.page.url().split("#")[0], place.split("#")[0]);
  assert.equal(await tab.page.evaluate(() => (window as { struck?: number }).struck), undefined);
  assert.equal(await ran(), false);
  const left = await tab.page.evaluate(() =>
    [...document.querySelectorAll(".jp-Notebook .jp-RenderedHTMLCommon *")].flatMap((element) => [
      ...element
        .getAttributeNames()
        .filter((name) => /^(on|data-(?!jupyter-id)|form|action|srcdoc|http-equiv|id$)/.test(name)),
      ...(/^(form|iframe|meta|base|script|object|embed)$/i.test(element.tagName)
        ? [element.tagName]
        : []),
    ]),
  );
  assert.deepEqual(left, []);
});

test("nothing of it lies over the rest of the page", { skip }, async () => {
  const covered = await tab.page.evaluate(async () => {
    const found: string[] = [];
    const bars = [
      ...document.querySelectorAll("#jp-top-panel, .jp-NotebookPanel-toolbar, .jp-SideBar"),
    ];
    for (const bait of document.querySelectorAll(".jp-Notebook .bait")) {
      bait.scrollIntoView({ block: "center" });
      await new Promise(requestAnimationFrame);
      for (const bar of bars) {
        const { left, top, width, height } = bar.getBoundingClientRect();
        if (width === 0 || height === 0) continue;
        const seen = document.elementFromPoint(left + width / 2, top + height / 2);
        if (seen?.closest(".jp-Notebook")) found.push(`${bar.className}: ${bait.outerHTML}`);
      }
      const cell = bait.closest(".jp-RenderedHTMLCommon, .jp-OutputArea-output");
      const next = bait.closest(".jp-Cell")?.nextElementSibling?.getBoundingClientRect();
      if (cell === null || next === undefined || next.height === 0 || next.top > innerHeight)
        continue;
      const below = document.elementFromPoint(next.left + 40, next.top + next.height / 2);
      if (
        below?.classList.contains("bait") &&
        !below.closest(".jp-Cell")!.isSameNode(bait.closest(".jp-Cell")!.nextElementSibling)
      ) {
        found.push(`the next cell: ${bait.outerHTML}`);
      }
    }
    return found;
  });
  assert.deepEqual(covered, []);
});

test("nor does what a cell that was run here shows", { skip }, async () => {
  await tab.open("own.ipynb");
  await tab.run(1);
  await tab.page.locator(`${tab.cell(1)} .bait`).waitFor();
  await strike();
  assert.equal(await ran(), false);
  assert.equal(await tab.page.locator(".jp-Dialog:not(.bait)").count(), 0);
});
