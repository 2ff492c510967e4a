// What comes with a notebook and would act when it is clicked, and a look at whether it did.
import assert from "node:assert/strict";
import { codeCell, type Tab } from "./browser-lab.js";

/** A command of the page that somebody else would have it run. */
export const command = "notebook:run-all-cells";
/** Each has an element of class `bait` to click. */
export const baits: readonly string[] = [
  `<button class="bait" data-commandlinker-command="${command}">run</button>`,
  `<button class="bait" data-commandlinker-command="${command}" data-commandlinker-args='{"a":1}'><b>run</b></button>`,
  `<a class="bait" href="#top" data-commandlinker-command="${command}">run</a>`,
  `<span class="bait" data-jupyter-action="${command}" data-command="${command}" data-jp-command="${command}">run</span>`,
  `<a class="bait" href="command:${command}">run</a>`,
  `<a class="bait" href="#command:${command}">run</a>`,
  `<a class="bait" href="javascript:void(window.struck=1)">run</a>`,
  `<a class="bait" href="&#106;avascript:window.struck=1">run</a>`,
  `<svg><a xlink:href="javascript:window.struck=1"><text class="bait" y="9">run</text></a></svg>`,
  `<svg onload="window.struck=1"><animate onbegin="window.struck=1"/></svg><i class="bait">run</i>`,
  `<img src="data:image/png,x" onerror="window.struck=1"><i class="bait" onclick="window.struck=1">run</i>`,
  `<form action="/lab?struck" method="get"><button class="bait" type="submit">run</button></form>`,
  `<form id="f1"></form><button class="bait" form="f1" formaction="/lab?struck">run</button>`,
  `<iframe srcdoc="<script>parent.struck=1</script>"></iframe><i class="bait">run</i>`,
  `<meta http-equiv="refresh" content="0; url=/lab?struck"><base href="/struck/"><i class="bait">run</i>`,
  `<map name="m"><area class="bait" shape="default" href="/lab?struck"></map><img usemap="#m"><i class="bait">run</i>`,
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

/** A cell that says so where it has run, and each of these in Markdown, in an output and in Markdown of an output. */
export const baitCells = (texts: readonly string[]): Record<string, unknown>[] => [
  codeCell("counts", 'console.log("this cell " + "has run")'),
  ...texts.map((text, i) => markdown(`m${i}`, text)),
  ...texts.map((text, i) => stored(`h${i}`, { "text/html": text })),
  ...texts.map((text, i) => stored(`o${i}`, { "text/markdown": text })),
];

/** Clicks every bait where it stands; a click that something else gets counts as one as well. */
export const strike = (tab: Tab): Promise<number> =>
  tab.page.evaluate(async () => {
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

const ran = async (tab: Tab): Promise<boolean> =>
  (await tab.page.locator(".jp-Notebook").allTextContents()).some((text) =>
    /this cell has run|a stored cell ran/.test(
      text.replace(/throw new Error\('a stored cell ran'\)/g, ""),
    ),
  );

/** No cell ran, nothing asks, and the page is where it was. */
export async function assertNothingActed(tab: Tab, place: string): Promise<void> {
  assert.equal(await tab.page.locator(".jp-Dialog:not(.bait)").count(), 0, "a dialog is open");
  assert.equal(tab.page.url().split("#")[0], place.split("#")[0]);
  assert.equal(await tab.page.evaluate(() => (window as { struck?: number }).struck), undefined);
  assert.equal(await ran(tab), false, "a cell has run");
}

/** Attributes and elements that act, where a notebook's own are shown. */
export const actingParts = (tab: Tab): Promise<string[]> =>
  tab.page.evaluate(() =>
    [...document.querySelectorAll(".jp-Notebook .jp-RenderedHTMLCommon *")].flatMap((element) => [
      ...element
        .getAttributeNames()
        .filter((name) =>
          /^(on|data-(?!jupyter-id|mjx-)|form|action|srcdoc|http-equiv|id$)/.test(name),
        ),
      ...(/^(form|iframe|meta|base|script|object|embed)$/i.test(element.tagName)
        ? [element.tagName]
        : []),
    ]),
  );

/** What lies over the rest of the page. */
export const coveringParts = (tab: Tab): Promise<string[]> =>
  tab.page.evaluate(async () => {
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
