import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";

const counter = `import { widget } from "arpo-lab/kernel";
const counter = widget({
  esm: \`export default {
    render({ model, el }) {
      const button = document.createElement("button");
      button.className = "counter";
      const draw = () => { button.textContent = "count " + model.get("count"); };
      button.onclick = () => { model.set("count", model.get("count") + 1); model.save_changes(); };
      model.on("change:count", draw);
      draw();
      el.append(button);
    },
  }\`,
  css: ".counter { font-weight: bold }",
  state: { count: 3 },
});
counter`;

const served = `import { comms, display, html } from "arpo-lab/kernel";
comms.register("test.double", (comm) => {
  comm.onMessage = ({ data }) => {
    comm.send({ double: 2 * Number(data["n"]) });
    display(html("<i>asked for " + Number(data["n"]) + "</i>"));
    console.log("printed meanwhile");
  };
});
html(\`<div id="asker"><button>ask</button> <b>nothing yet</b></div><script>
  const root = document.getElementById("asker");
  root.querySelector("button").onclick = () => {
    const heard = !root.dispatchEvent(new CustomEvent("arpo-lab:connect", {
      bubbles: true,
      cancelable: true,
      detail: {
        target: "test.double",
        connected(channel) {
          channel.onMessage = ({ double }) => {
            root.querySelector("b").textContent = "the kernel says " + double;
            channel.insertCell("6 * 7", { run: true });
          };
          channel.send({ n: 21 });
        },
      },
    }));
    if (!heard) root.querySelector("b").textContent = "nobody answers";
  };
</script>\`)`;

let lab: BrowserLab;
let tab: Tab;
before(async () => {
  if (skip !== false) return;
  const cells = [
    codeCell("w", counter),
    codeCell("r", "counter.get('count')"),
    codeCell("c", served),
  ];
  lab = await BrowserLab.start({ "outputs.ipynb": notebookFile(cells) });
  tab = await lab.tab();
  await tab.open("outputs.ipynb");
});
after(async () => {
  if (skip === false) await lab.stop();
});

test("a widget draws in the page and shares its state both ways", { skip }, async () => {
  await tab.run(1);
  const button = tab.page.locator(`${tab.cell(1)} button.counter`);
  await button.waitFor();
  assert.equal(await button.textContent(), "count 3");
  await button.click();
  await button.click();
  await tab.run(2);
  await tab.output(2, "5");
  await tab.edit(2, "counter.set({ count: 41 })");
  await tab.run(2);
  await button.filter({ hasText: "count 41" }).waitFor();
  await tab.picture("widget");
});

test("a widget is there again after a reload of the page", { skip }, async () => {
  await tab.save();
  await tab.page.reload();
  const button = tab.page.locator(`${tab.cell(1)} button.counter`);
  await button.filter({ hasText: "count 41" }).waitFor();
  await button.click();
  await tab.edit(2, "counter.get('count')");
  await tab.run(2);
  await tab.output(2, "42");
});

test(
  "a script in an output talks to the kernel, and what that prints is shown there",
  { skip },
  async () => {
    await tab.run(3);
    await tab.page.click(`${tab.cell(3)} #asker button`);
    await tab.output(3, "the kernel says 42");
    await tab.output(3, "asked for 21");
    await tab.output(3, "printed meanwhile");
    await tab.output(4, "42");
  },
);

test("diagrams in Markdown are drawn, by ELK's layout too", { skip }, async () => {
  const diagram = (layout: string) =>
    `\`\`\`mermaid\n---\nconfig:\n  layout: ${layout}\n---\nflowchart LR\n  prompt --> call["$$h_0$$"] --> ${layout}\n\`\`\`\n`;
  const cells = ["dagre", "elk"].map((layout) => ({
    cell_type: "markdown",
    id: layout,
    metadata: {},
    source: diagram(layout),
  }));
  writeFileSync(join(lab.folder, "diagrams.ipynb"), notebookFile([...cells, codeCell("last", "")]));
  const tab = await lab.tab();
  await tab.open("diagrams.ipynb");
  for (const [i, layout] of ["dagre", "elk"].entries()) {
    const drawn = tab.page.locator(`${tab.cell(i + 1)} .jp-RenderedMermaid img`);
    await drawn.waitFor();
    const address = (await drawn.getAttribute("src")) ?? "";
    const picture = decodeURIComponent(address.replace(/^data:image\/svg\+xml[^,]*,/, ""));
    assert.match(picture, new RegExp(`>${layout}<`));
    assert.match(picture, /<math|katex/);
  }
  await tab.picture("diagrams");
});
