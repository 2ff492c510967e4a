// What the view of credit rules does in a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { creditView } from "../../src/view/credit/credit-view.js";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { browserPath, openPage } from "./browser.js";

const skip = browserPath === undefined && "no Chromium on this machine";

test(
  "creditView() tells the sum behind a token under a rule: by clicks, from the maps, by arrow keys",
  { skip },
  async () => {
    const { scored } = await grpoBatch();
    const view = creditView(scored);
    const { rules, rows } = view.payload;
    const page = await openPage(view.html());
    const told = async () =>
      String(await page.evaluate(`document.querySelector(".arpo-sum").textContent`));
    try {
      // A token's total is the sum of its terms times its factors, and stands beside the rule's name.
      const place = rules.findIndex(({ name }) => name === "spo_tree");
      const numbers = (await page.evaluate(`(() => {
        const line = document.querySelector('tr[data-line="${place}"]');
        line.querySelector('td[data-token="0"]').click();
        const cells = [...document.querySelectorAll(".arpo-sum tr")].map((tr) => tr.cells[1].textContent);
        return [...cells, line.querySelector("output").textContent];
      })()`)) as string[];
      const read = numbers.map((text) => Number(text.replace("−", "-")));
      const [own, parent, total, beside] = read;
      assert.ok(Math.abs(own! + parent! - total!) < 1e-3, numbers.join(" "));
      assert.ok(Math.abs(total! - beside!) < 1e-2 && total !== 0);
      assert.match(await told(), /worth of the segment.*advantage by spo_tree/);

      // A click on a map goes to its rule and row.
      const grpo = rules.findIndex(({ name }) => name === "grpo");
      const last = rows.length - 1;
      await page.evaluate(`(() => {
        const map = document.querySelector('.arpo-map[data-rule="${grpo}"]');
        const box = map.getBoundingClientRect();
        const at = { clientX: box.left + 1, clientY: box.bottom - 1, bubbles: true };
        map.dispatchEvent(new MouseEvent("click", at));
      })()`);
      assert.match(await told(), new RegExp(`token 0 of ${rows[last]!.label}\\. grpo`));
      const press = (key: string) =>
        page.evaluate(`document.querySelector(".arpo-lines").dispatchEvent(
          new KeyboardEvent("keydown", { key: "${key}", cancelable: true }))`);
      assert.equal(await press("ArrowDown"), false, "the key must be taken from the page");
      assert.match(await told(), /\. rloo: /);
      await press("ArrowRight");
      assert.match(await told(), /token 1 of/);

      // Each rule's own scale colours the same numbers otherwise; a row can be chosen by name.
      const fill = `document.querySelector("rect[data-value]").getAttribute("fill")`;
      const before = await page.evaluate(fill);
      await page.evaluate(`(() => {
        const [row, scale] = document.querySelectorAll(".arpo-bar select");
        scale.value = "1";
        scale.dispatchEvent(new Event("change"));
        row.value = "0";
        row.dispatchEvent(new Event("change"));
      })()`);
      assert.notEqual(await page.evaluate(fill), before);
      assert.match(await told(), new RegExp(`token 0 of ${rows[0]!.label}`));
      assert.match(
        String(await page.evaluate(`document.querySelector(".arpo-credit").textContent`)),
        /mt_grpo: turns must have rewards/,
      );
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  },
);
