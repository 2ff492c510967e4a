import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { writeAtomically } from "../../kernel/notebook/write.js";
import { BrowserLab, codeCell, noBrowser as skip, notebookFile, type Tab } from "./browser-lab.js";
import { Gate } from "../gate.js";
import { CutProxy } from "./cut-proxy.js";

let lab: BrowserLab;
let isFull = false;
before(async () => {
  if (skip !== false) return;
  const names = ["two", "dead", "line", "full", "under"];
  const file = notebookFile([codeCell("a", "1 + 1"), codeCell("b", "'second'")]);
  lab = await BrowserLab.start(Object.fromEntries(names.map((name) => [`${name}.ipynb`, file])), {
    write: (place, data) => {
      if (isFull && place.endsWith("full.ipynb")) {
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), {
          code: "ENOSPC",
        });
      }
      writeAtomically(place, data);
    },
  });
});
after(async () => {
  // Answers that are errors belong to these tests.
  if (skip === false) await lab.stop(/^(409|500|507) /);
});

const saved = (name: string): string => readFileSync(join(lab.folder, name), "utf8");
const open = async (name: string): Promise<Tab> => {
  const tab = await lab.tab();
  await tab.open(name);
  return tab;
};
const dialog = (tab: Tab) => tab.page.locator(".jp-Dialog");
const trySave = async (tab: Tab): Promise<void> => {
  await tab.page.click(`${tab.cell(1)} .jp-InputPrompt`);
  await tab.page.keyboard.press("Control+s");
};

test(
  "two tabs on one notebook: the second to save is asked, nothing is overwritten unseen",
  { skip },
  async () => {
    const [one, two] = [await open("two.ipynb"), await open("two.ipynb")];
    await one.edit(1, "'from the first'");
    await one.save();
    await two.edit(1, "'from the second'");
    await two.page.waitForTimeout(1100); // times of files are compared to half a second
    await trySave(two);
    await dialog(two).waitFor();
    await two.picture("conflict");
    assert.match(saved("two.ipynb"), /from the first/);
    await dialog(two).locator("button", { hasText: "Overwrite" }).click();
    await two.saved();
    assert.match(saved("two.ipynb"), /from the second/);
    // The first one, which knows nothing of it, is asked too.
    await one.edit(2, "'again from the first'");
    await one.page.waitForTimeout(1100);
    await trySave(one);
    await dialog(one).waitFor();
    await dialog(one).locator("button", { hasText: "Cancel" }).click();
    assert.match(saved("two.ipynb"), /from the second/);
    assert.match((await one.page.textContent(`${one.cell(2)} .cm-content`)) ?? "", /again from/);
    await one.page.close();
    await two.page.close();
  },
);

test("two tabs on one notebook share its kernel", { skip }, async () => {
  const [one, two] = [await open("two.ipynb"), await open("two.ipynb")];
  await one.edit(1, "const shared = 'known in both'");
  await one.run(1);
  await one.page.waitForSelector(`${one.cell(1)} .jp-InputPrompt:has-text("[1]")`);
  await two.edit(1, "shared");
  await two.run(1);
  await two.output(1, "known in both");
  await one.page.close();
  await two.page.close();
});

test(
  "a kernel that dies is started again, the page says so and keeps its text",
  { skip },
  async () => {
    const tab = await open("dead.ipynb");
    const gate = await Gate.open();
    await tab.edit(
      1,
      `console.log('said before'); ${gate.here} process.kill(process.pid, 'SIGKILL')`,
    );
    await tab.run(1);
    await tab.output(1, "said before");
    gate.pass();
    await dialog(tab)
      .filter({ hasText: /restart/i })
      .waitFor();
    await tab.picture("dead-kernel");
    await dialog(tab).locator("button.jp-mod-accept").click();
    await tab.idle();
    await tab.run(2);
    await tab.output(2, "second");
    await tab.save();
    assert.match(saved("dead.ipynb"), /said before/);
    await tab.page.close();
    await gate.close();
  },
);

test("a line that is cut while a cell prints loses nothing", { skip }, async () => {
  const proxy = await CutProxy.start(lab.server.port);
  const gate = await Gate.open();
  try {
    const tab = await lab.tab();
    await tab.open("line.ipynb", `http://127.0.0.1:${proxy.port}/`);
    await tab.edit(
      1,
      `for (let i = 1; i <= 60; i++) { console.log(\`line \${i}.\`); if (i % 20 === 5) ${gate.here} }\n'over'`,
    );
    await tab.run(1);
    await tab.output(1, "line 5.");
    gate.pass();
    proxy.cut();
    await gate.reached(2);
    await dialog(tab).filter({ hasText: "Server Connection Error" }).waitFor();
    await tab.picture("lost-connection");
    await dialog(tab).locator("button").last().click();
    await tab.edit(2, "'typed without a line'");
    proxy.isCut = false;
    await tab.output(1, "line 25.");
    gate.pass(2);
    await tab.output(1, "over");
    // Printed text is drawn a moment after what came with it.
    await tab.output(1, "line 60.");
    const text = await tab.page
      .locator(`${tab.cell(1)} [data-mime-type="application/vnd.jupyter.stdout"]`)
      .allTextContents();
    assert.equal(text.join(""), Array.from({ length: 60 }, (_, i) => `line ${i + 1}.\n`).join(""));
    await tab.save();
    assert.match(saved("line.ipynb"), /typed without a line/);
    await tab.page.close();
  } finally {
    await proxy.stop();
    await gate.close();
    lab.complaints.splice(0); // requests to the proxy's port count as outside
  }
});

test("a full disk is told, the file stays whole and the text in the page", { skip }, async () => {
  const tab = await open("full.ipynb");
  const before = saved("full.ipynb");
  await tab.edit(1, "'too much for the disk'");
  isFull = true;
  await trySave(tab);
  await dialog(tab)
    .filter({ hasText: /no space left/i })
    .waitFor();
  await tab.picture("disk-full");
  assert.equal(saved("full.ipynb"), before);
  await dialog(tab).locator("button").last().click();
  isFull = false;
  await tab.save();
  assert.match(saved("full.ipynb"), /too much for the disk/);
  await tab.page.close();
});

test("a file that changed underneath is not overwritten unseen", { skip }, async () => {
  const tab = await open("under.ipynb");
  await tab.edit(1, "'typed in the page'");
  const elsewhere = notebookFile([codeCell("a", "'typed elsewhere'")]);
  writeFileSync(join(lab.folder, "under.ipynb"), elsewhere);
  const later = new Date(Date.now() + 5000);
  utimesSync(join(lab.folder, "under.ipynb"), later, later);
  await trySave(tab);
  await dialog(tab).waitFor();
  assert.equal(saved("under.ipynb"), elsewhere);
  await dialog(tab).locator("button", { hasText: "Revert" }).click();
  await tab.page.waitForFunction(() =>
    /typed elsewhere/.test(document.querySelector(".jp-Cell .cm-content")?.textContent ?? ""),
  );
  await tab.page.close();
});

test(
  "Ctrl-C writes what was not saved, beside a file that changed meanwhile",
  { skip },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "lab-stop-"));
    const data = mkdtempSync(join(tmpdir(), "lab-stop-data-"));
    const file = notebookFile([codeCell("a", "1 + 1")]);
    writeFileSync(join(folder, "one.ipynb"), file);
    writeFileSync(join(folder, "other.ipynb"), file);
    const bin = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
    const process_ = spawn(process.execPath, [bin, "lab", "--no-browser", "--dir", folder], {
      env: { ...process.env, ARPO_LAB_DATA: data },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<number | null>((done) => process_.once("close", done));
    let said = "";
    const address = await new Promise<string>((found) => {
      process_.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        const match = /^http:\S+(?=\n)/m.exec(said);
        if (match !== null) found(match[0]);
      });
    });
    const { origin, search } = new URL(address);
    const tabs: Tab[] = [];
    for (const name of ["one.ipynb", "other.ipynb"]) {
      const tab = await lab.tab();
      tabs.push(tab);
      await tab.page.goto(`${origin}/lab/workspaces/${name.slice(0, 3)}/tree/${name}${search}`);
      await tab.page.waitForSelector(`${tab.cell(1)} .cm-content`);
      await tab.idle();
      await tab.edit(1, `'typed into ${name}, not saved'`);
    }
    const later = new Date(Date.now() + 5000);
    writeFileSync(join(folder, "other.ipynb"), file.replace("1 + 1", "2 + 2"));
    utimesSync(join(folder, "other.ipynb"), later, later);
    process_.kill("SIGINT");
    assert.equal(await ended, 0);
    assert.match(
      readFileSync(join(folder, "one.ipynb"), "utf8"),
      /typed into one.ipynb, not saved/,
    );
    assert.match(said, /Saved one\.ipynb/);
    assert.match(readFileSync(join(folder, "other.ipynb"), "utf8"), /2 \+ 2/);
    const kept = /it is in (other-unsaved-\d+\.ipynb)/.exec(said)?.[1];
    assert.ok(kept !== undefined, said);
    assert.match(readFileSync(join(folder, kept), "utf8"), /typed into other.ipynb, not saved/);
    for (const tab of tabs) await tab.page.close();
    lab.complaints.splice(0); // that lab was another host, and has gone
    for (const made of [folder, data]) rmSync(made, { recursive: true, force: true });
  },
);
