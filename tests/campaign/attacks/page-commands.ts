// Notebooks from elsewhere whose elements would act in the lab's page, clicked in a browser.
import assert from "node:assert/strict";
import type { Random } from "../../../src/base/random/random.js";
import {
  actingParts,
  assertNothingActed,
  baitCells,
  baits,
  command,
  coveringParts,
  strike,
} from "../../lab/baits.js";
import { BrowserLab, noBrowser, notebookFile } from "../../lab/browser-lab.js";
import type { Area } from "../attempt.js";

const strikes = "window.struck=1";
const elements = ["a", "button", "span", "div", "b", "label", "summary", "td", "input", "area"];
const attributes = [
  ...[
    `data-commandlinker-command="${command}"`,
    `DATA-COMMANDLINKER-COMMAND='${command}'`,
    `data-commandlinker-command="kernelmenu:restart-and-run-all"`,
    `data-commandlinker-args='{"path":"/etc"}'`,
    `data-command="${command}"`,
    `data-jupyter-action="${command}"`,
    `data-jp-command="${command}"`,
    `data-jp-suppress-context-menu`,
  ],
  ...[
    `href="command:${command}"`,
    `href="#command:${command}"`,
    `href="commandlink:${command}?{}"`,
    `href="javascript:${strikes}"`,
    `href="&#106;ava&#9;script:${strikes}"`,
    `href=" JaVaScRiPt:${strikes}"`,
    `href="data:text/html,<script>opener.struck=1</script>" target="_top"`,
    `xlink:href="javascript:${strikes}"`,
    `ping="/api/shutdown" href="#top"`,
  ],
  ...["onclick", "onmouseover", "onpointerdown", "ONFOCUS", "onerror", "onload", "ontoggle"].map(
    (name) => `${name}="${strikes}"`,
  ),
  ...[
    `autofocus tabindex="0" onfocus="${strikes}"`,
    `form="f" formaction="/lab?struck" type="submit"`,
    `popovertarget="jp-top-panel" commandfor="main" command="toggle-popover"`,
    `id="jp-main-dock-panel"`,
    `contenteditable accesskey="s"`,
    `style="position:fixed;inset:0;z-index:99999;width:100vw;height:100vh"`,
    `style="position:sticky;top:-500px;margin:-900px;padding:2000px"`,
    `style="transform:scale(90);transform-origin:0 100%"`,
    `class="bait jp-Dialog jp-mod-accept jp-ToolbarButtonComponent"`,
  ],
];
const wrappers: ((text: string) => string)[] = [
  (text) => text,
  (text) => `<details open>${text}</details>`,
  (text) => `<table><tr>${text}</tr></table>`,
  (text) => `<svg><foreignObject>${text}</foreignObject></svg>`,
  (text) => `<svg><a>${text}</a></svg>`,
  (text) => `<math><mtext><mglyph><style><!--</style>${text}</mglyph></mtext></math>`,
  (text) => `<template shadowrootmode="open">${text}</template>`,
  (text) => `<noscript><p title="</noscript>${text}">`,
  (text) => `<form id="f" action="/lab?struck">${text}<input type="submit"></form>`,
  (text) => `<!-- --!>${text}-->`,
  (text) =>
    `<map name="m">${text}<area class="bait" shape="default" href="/lab?struck"></map><img usemap="#m">`,
  (text) => `<p>\n\n${text}\n\n</p>`,
  (text) => `> ${text}`,
  (text) => `$\\text{${text}}$`,
];

function baitOf(random: Random): string {
  if (random.uniform() < 0.15) return random.choose(baits);
  const element = random.choose(elements);
  const some = Array.from({ length: 1 + random.integer(3) }, () => random.choose(attributes));
  const own = some.some((text) => text.startsWith("class=")) ? "" : ' class="bait"';
  const bait = `<${element}${own} ${some.join(" ")}>run</${element}>`;
  return random.choose(wrappers)(random.choose(wrappers)(bait));
}

export const pageCommands: Area = {
  name: "page commands",
  share: 3,
  seconds: 240,
  make: (random) => {
    const texts = Array.from({ length: 12 }, () => baitOf(random));
    return {
      name: `clicks on ${JSON.stringify(texts)}`,
      promise: "no command, no script, no form, no other place, nothing over the page",
      run: async (place) => {
        if (noBrowser !== false) place.skip(noBrowser);
        const lab = await BrowserLab.start({ "baits.ipynb": notebookFile(baitCells(texts)) });
        place.after(() => lab.stop());
        const tab = await lab.tab();
        await tab.open("baits.ipynb");
        const url = tab.page.url();
        const struck = await strike(tab);
        await assertNothingActed(tab, url);
        assert.deepEqual(await actingParts(tab), []);
        assert.deepEqual(await coveringParts(tab), []);
        return `${struck} clicks`;
      },
    };
  },
};
