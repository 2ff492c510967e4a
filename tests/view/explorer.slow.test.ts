// The explorer in a browser: what it counts, its keys, its exports and its table.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { drawn, folder, kept, onPage, pageOf, skip, textOf } from "./explorer-page.js";

test("What if? counts what tree.replay() counts, for both kinds of rules", { skip }, async () => {
  const { tree, scored, batch } = await grpoBatch();
  await onPage(pageOf(tree, { scored, batch }), async (page) => {
    await page.click("text=What if?");
    const branches = async () => Number(await page.getAttribute(".ax-result", "data-branches"));
    const slide = (key: string, value: number) =>
      page.$eval(
        `[data-change=${key}]`,
        (input, to) => {
          (input as HTMLInputElement).value = String(to);
          input.dispatchEvent(new Event("input"));
        },
        value,
      );
    const counts = new Set<number>();
    for (const probability of [0.05, 0.2, 0.3, 0.9]) {
      await slide("probability", probability);
      const expected = tree.replay({ probability });
      assert.equal(await branches(), expected.branches);
      const told = await textOf(page, ".ax-result");
      assert.match(
        told,
        new RegExp(`− ${expected.missing.length} traj.*\\+ ${expected.unseen} new`),
      );
      counts.add(expected.branches);
    }
    assert.ok(counts.size > 1);
    await kept(page, "explorer-what-if");
    const choose = async (rule: string) => {
      await page.selectOption("[data-change=rule]", rule);
      return branches();
    };
    await choose("treerl");
    for (const points of [1, 3]) {
      await slide("points", points);
      assert.equal(await branches(), tree.replay({ rule: "treerl", expand: { points } }).branches);
    }
    assert.equal(await choose("appo"), tree.replay({ rule: "appo" }).branches);
    await page.click("text=Reset");
    const made = tree.trajectories.filter(({ kind }) => kind === "branch").length;
    assert.equal(await branches(), made);
    await page.click(`[data-change=rule] >> nth=0`);
  });
});

test(
  "everything is reached by keyboard alone, and no key leaks to the page",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    await onPage(pageOf(tree, { scored, batch }), async (page) => {
      await page.evaluate(() => {
        const leaked: string[] = [];
        Object.assign(window, { leaked });
        document.addEventListener("keydown", ({ key }) => leaked.push(key));
      });
      for (let i = 0; i < 20; i++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate(() => document.activeElement?.className === "ax-scroll")) break;
      }
      assert.equal(await page.evaluate(() => document.activeElement?.className), "ax-scroll");
      const outline = await page.$eval(".ax-scroll", (tree) => getComputedStyle(tree).outlineStyle);
      assert.equal(outline, "solid", "the focus is visible");
      const press = (key: string) => page.keyboard.press(key);
      const head = () => textOf(page, ".ax-head-line");
      await press("ArrowRight");
      assert.match(await head(), /^Trajectory 0turn 1/);
      await press("Enter");
      assert.match(await textOf(page, ".ax-card"), /entropy \d\.\d\d nats/);
      await press("ArrowRight");
      assert.equal(
        await page.$eval(".ax-text .ax-on", (on) => (on as HTMLElement).dataset["token"]),
        "1",
      );
      await press("p");
      const first = tree.nodes[0]!.entropies;
      const peak = first.indexOf(Math.max(...first));
      const at = await page.$eval(".ax-text .ax-on", (on) => (on as HTMLElement).dataset["token"]);
      assert.ok(
        Math.abs(first[Number(at)]! - first[peak]!) < 1e-3,
        "P goes to the highest entropy",
      );
      await press("Enter");
      await press("End");
      assert.match(await head(), /^Trajectory 0turn \d/);
      await press("Home");
      assert.match(await head(), /turn 1/);
      await press("b");
      assert.match(await textOf(page, ".ax-body"), /Yes: trajectory \d+ starts here/);
      assert.match(await textOf(page, ".ax-spoken"), /probability|trajectory/i);
      await press("Shift+B");
      await press("c");
      await press("ArrowDown");
      const [a, b] = [tree.selected[0]!, tree.selected.at(-1)!];
      assert.ok(a && b);
      assert.match(await textOf(page, ".ax-compare"), /^Compared\. They (share|start)/);
      await press("c");
      assert.equal(await page.locator(".ax-compare").count(), 0);
      await press("f");
      assert.equal(await page.getAttribute("[data-choice=right]", "aria-pressed"), "true");
      await press("f");
      await press("f");
      await press("w");
      assert.equal(
        await page
          .getAttribute("[role=tab][aria-selected=true]", "id")
          .then((id) => /whatif$/.test(id!)),
        true,
      );
      await press("w");
      await press("?");
      assert.match(await textOf(page, ".ax-body"), /next or previous branch point/);
      for (const key of ["+", "-", "0"]) await press(key);
      await press(".");
      assert.match(await textOf(page, ".ax-caption"), /^One question/);
      await press(".");
      assert.match(await textOf(page, ".ax-caption"), /^(Turn|Round) 1: \d+ trajectories write/);
      await press(",");
      assert.match(await textOf(page, ".ax-caption"), /^One question/);
      await press(" ");
      assert.equal(await page.getAttribute(".ax-transport .ax-primary", "aria-label"), "Pause");
      await press(" ");
      await press("Escape");
      assert.equal(await page.isVisible(".ax-play"), false);
      assert.deepEqual(
        ((await page.evaluate("leaked")) as string[]).filter((key) => !/^(Tab|Shift)$/.test(key)),
        [],
      );
      // With nothing left to clear, Escape and unknown keys are the page's; Tab leaves the tree.
      await press("Escape");
      await press("Escape");
      await press("x");
      assert.deepEqual(((await page.evaluate("leaked")) as string[]).slice(-2), ["Escape", "x"]);
      await press("Tab");
      assert.notEqual(await page.evaluate(() => document.activeElement?.className), "ax-scroll");
    });
  },
);

test(
  "playback ends in the same picture as without it, and tells every decision",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    await onPage(
      pageOf(tree, { scored, batch }),
      async (page) => {
        const picture = () =>
          page.$eval(".ax-scroll canvas", (c) => (c as HTMLCanvasElement).toDataURL());
        await page.focus(".ax-scroll");
        await drawn(page);
        const plain = await picture();
        await page.keyboard.press(".");
        await drawn(page);
        assert.notEqual(await picture(), plain);
        const said: string[] = [];
        for (let i = 0; i < 200; i++) {
          said.push(await textOf(page, ".ax-caption"));
          const count = await textOf(page, ".ax-transport .ax-number");
          const [event, of] = count.split(" / ").map(Number);
          if (event === of) break;
          await page.keyboard.press(".");
        }
        await drawn(page);
        assert.equal(await picture(), plain);
        for (const what of [
          /tools answer/,
          /→ branched: trajectory \d+ starts/,
          /mean is/,
          /advantage/,
        ]) {
          assert.ok(
            said.some((each) => what.test(each)),
            `${what}: ${said.join(" | ")}`,
          );
        }
      },
      { reducedMotion: "reduce" },
    );
  },
);

test(
  "a table of the trajectories tells screen readers what the picture shows",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    await onPage(pageOf(tree, { scored, batch }), async (page) => {
      await page.click(".ax-trajectories summary");
      await page.waitForSelector(".ax-trajectories tbody tr");
      const rows = await page.locator(".ax-trajectories tbody tr").allTextContents();
      assert.equal(rows.length, tree.trajectories.length);
      const branch = tree.trajectories.findIndex(({ kind }) => kind === "branch");
      assert.match(
        rows[branch]!,
        new RegExp(`^${branch}trajectory ${tree.trajectories[branch]!.parent}, after turn`),
      );
      await page.click(`[aria-label="Select trajectory ${branch}"]`);
      assert.match(await textOf(page, ".ax-head-line"), new RegExp(`^Trajectory ${branch}`));
    });
  },
);

test("SVG, PNG, HTML, JSON and CSV are saved, and open alone", { skip }, async () => {
  const { tree, scored, batch } = await grpoBatch();
  await onPage(
    pageOf(tree, { scored, batch }),
    async (page) => {
      const save = async (kind: string) => {
        await page.click(".ax-popover:last-child > button");
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.click(`[data-export=${kind}]`),
        ]);
        assert.equal(download.suggestedFilename(), `rollout-tree.${kind}`);
        const path = join(folder, `saved.${kind}`);
        await download.saveAs(path);
        return readFileSync(path);
      };
      const svg = String(await save("svg"));
      assert.match(svg, /^<svg [^]*<title>Rollout tree: q<\/title>/);
      for (const text of ["Turn 1", "branched", "tool result", "entropy, nats (√ scale)"]) {
        assert.ok(svg.includes(`>${text}</text>`), text);
      }
      assert.doesNotMatch(svg, /NaN|<image|<script|href=/);
      assert.deepEqual([...(await save("png")).subarray(1, 4)], [0x50, 0x4e, 0x47]);
      const { nodes } = JSON.parse(String(await save("json"))) as { nodes: unknown[] };
      assert.equal(nodes.length, tree.nodes.length);
      assert.equal(
        String(await save("csv"))
          .trim()
          .split("\n").length,
        1 + tree.trajectories.length,
      );
      const html = String(await save("html"));
      await onPage(html, async (again) => {
        assert.match(
          await textOf(again, ".ax-summary"),
          new RegExp(`${tree.trajectories.length} traj`),
        );
        await again.focus(".ax-scroll");
        await again.keyboard.press("b");
        assert.match(await textOf(again, ".ax-body"), /Yes: trajectory/);
        // What was saved can be saved again.
        await again.click(".ax-popover:last-child > button");
        assert.equal(await again.locator("[data-export=html]").count(), 1);
      });
    },
    { acceptDownloads: true },
  );
});

test("clicks select tokens, unfold results, compare and filter", { skip }, async () => {
  const { tree, scored, batch } = await grpoBatch();
  await onPage(pageOf(tree, { scored, batch }), async (page) => {
    const box = (await page.locator(".ax-scroll").boundingBox())!;
    const lane = (n: number) => box.y + 30 + 8 + 34 * n + 17;
    await page.mouse.click(box.x + 54, lane(0));
    assert.match(await textOf(page, ".ax-head-line"), /^Trajectory 0turn 1/);
    assert.match(await textOf(page, ".ax-card"), /entropy/);
    await page.keyboard.down("Shift");
    await page.mouse.click(box.x + box.width - 20, lane(1));
    await page.keyboard.up("Shift");
    assert.match(await textOf(page, ".ax-compare"), /^Compared/);
    await page.mouse.move(box.x + 56, lane(0));
    assert.match(await textOf(page, ".ax-tip"), /entropy \d/);
    await page.click("[data-choice=wrong]");
    await page.click("[data-choice=all]");
    // Every quantity and alignment that the tree has can be shown.
    await page.click("text=View");
    for (const quantity of ["probability", "reward", "advantage", "entropy"]) {
      await page.selectOption("[data-view=quantity]", quantity);
      await drawn(page);
    }
    for (const scale of ["linear", "percentile", "sqrt"]) {
      await page.selectOption("[data-view=scale]", scale);
      await drawn(page);
    }
    for (const align of ["tokens", "time", "turns"]) {
      await page.selectOption("[data-view=align]", align);
      await drawn(page);
    }
    await page.check(".ax-check input");
    await drawn(page);
  });
});

test(
  "playback runs in each of ten loads, also where the clock is ahead of the first frame",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    const html = pageOf(tree, { scored, batch });
    for (let load = 0; load < 10; load++) {
      // Every other load with a clock that is half a second ahead of the frames' own time.
      const ahead = load % 2 === 0 ? 0 : 500;
      const clock = `<script>{const now=performance.now.bind(performance);performance.now=()=>now()+${ahead}}</script>`;
      await onPage(html.replace("<head>", `<head>${clock}`), async (page) => {
        const shown = () => textOf(page, ".ax-play .ax-number");
        await page.click("text=How it grew");
        const first = await shown();
        assert.match(first, /^1 \/ \d+$/);
        await page.waitForFunction(
          () => !document.querySelector(".ax-play .ax-number")!.textContent!.startsWith("1 /"),
          undefined,
          { timeout: 10_000 },
        );
        assert.equal(Number((await shown()).split(" ")[0]), 2, `load ${load}`);
      });
    }
  },
);

test(
  "a link opens a tree at a token in a fresh browser, and a wrong one changes nothing",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    const html = pageOf(tree, { scored, batch });
    let link = "";
    await onPage(html, async (page) => {
      await page.focus(".ax-scroll");
      for (const key of ["Home", "ArrowRight", "ArrowLeft", "p"]) await page.keyboard.press(key);
      link = new URL(page.url()).hash;
      assert.match(link, /^#t=\d+&node=\d+&token=\d+$/);
    });
    const opened = async (hash: string) => {
      let told = "";
      await onPage(
        html.replace(
          "<head>",
          `<head><script>if(!location.hash)location.replace("${hash}")</script>`,
        ),
        async (page) => {
          await drawn(page);
          told = await textOf(page, ".ax-body");
        },
      );
      return told;
    };
    assert.match(await opened(link), /entropy \d\.\d\d nats/);
    for (const wrong of ["#t=1&node=99999&token=0", "#node=-1", "#node=1e3", "#x=<b>"])
      assert.match(await opened(wrong), /How to read this tree/, wrong);
  },
);
