import type { ExplorerPayload } from "../../explorer/payload.js";
import { openExplorers } from "../../explorer/page/start-explorer.js";
import { textOf, unpackTree } from "../../explorer/page/tree/unpack-tree.js";
import { addressOf } from "../../page/address.js";
import { carried } from "../../page/element.js";
import { starter } from "../../page/start-view.js";
import { matcher, type RowFacts, rowFits } from "../../page/row-search.js";

/** What each trajectory of a box says, with the prompt; the box's own line where its tree is not on the page. */
function textsIn(box: HTMLElement): readonly string[] {
  const line = box.firstElementChild?.textContent ?? "";
  const payload = carried<ExplorerPayload>(box.querySelector("[data-explorer]"), "tree");
  if (payload === undefined) return [line];
  const tree = unpackTree(payload);
  const texts = tree.nodes.map((node) => node.text ?? textOf(tree, node));
  return tree.trajectories.map(({ leaf }) => {
    const path: string[] = [];
    for (let at = leaf; at >= 0; at = tree.nodes[at]!.parent) path.push(texts[at]!);
    return `${tree.prompt}\n${path.reverse().join("")}`;
  });
}

/** Brings an import to life: findings lead to their trajectories; prompts open their trees, are searched and ordered. */
export const startImported = starter(undefined, (root, _payload, _palette, colours) => {
  const list = root.querySelector<HTMLElement>("[data-prompts]");
  if (!list) return;
  const boxes = [...list.querySelectorAll<HTMLDetailsElement>("details[data-prompt]")];
  const openAt = openExplorers(boxes, colours);
  const byPrompt = new Map(boxes.map((box) => [Number(box.dataset["prompt"]), box]));
  const address = addressOf(root);
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a[data-place]")) {
    link.onclick = (event) => {
      event.preventDefault();
      const [prompt, t, node, token] = link.dataset["place"]!.split(" ").map(Number);
      const box = byPrompt.get(prompt!);
      if (!box) return;
      box.hidden = false;
      openAt(box, node!, token!, t!);
      address.write({ prompt: prompt!, t: t!, node: node!, token: token! });
    };
  }
  const choice = (name: string) =>
    root.querySelector<HTMLSelectElement | HTMLInputElement>(`[data-choose=${name}]`);
  const [step, order, words] = [choice("step"), choice("order"), choice("words")];
  const [tool, end] = [choice("tool"), choice("end")];
  const [least, most] = [choice("least"), choice("most")];
  const count = root.querySelector<HTMLOutputElement>("output[data-count]");
  // What has no score stands last.
  const fact = (box: HTMLElement, name: string, last: number) =>
    box.dataset[name] ? Number(box.dataset[name]) : last;
  const orders: Record<string, (a: HTMLElement, b: HTMLElement) => number> = {
    file: () => 0,
    spread: (a, b) => fact(b, "spread", -Infinity) - fact(a, "spread", -Infinity),
    low: (a, b) => fact(a, "mean", Infinity) - fact(b, "mean", Infinity),
    high: (a, b) => fact(b, "mean", -Infinity) - fact(a, "mean", -Infinity),
  };
  const pinned = new Set<HTMLElement>();
  const known = new Map<HTMLElement, readonly string[]>();
  const textsOf = (box: HTMLElement) => {
    const texts = known.get(box) ?? textsIn(box);
    known.set(box, texts);
    return texts;
  };
  const rowsOf = new Map(
    boxes.map((box) => [box, JSON.parse(box.dataset["rows"] ?? "[]") as RowFacts[]]),
  );
  const choose = () => {
    const wanted = words?.value ?? "";
    const finds = matcher(wanted);
    words?.setAttribute("aria-invalid", String(finds === undefined));
    const wish = { tool: tool?.value, end: end?.value, least: least?.value, most: most?.value };
    const isNarrow = Object.values(wish).some(Boolean);
    let [shown, found] = [0, 0];
    for (const box of boxes) {
      const rows = rowsOf.get(box)!;
      const texts = wanted === "" ? [] : textsOf(box);
      const line = wanted !== "" && finds?.(box.firstElementChild?.textContent ?? "") === true;
      const fits = (facts: RowFacts, row: number) =>
        rowFits(facts, wish) &&
        (wanted === "" || line || finds?.(texts[row] ?? texts[0] ?? "") === true);
      const own = rows.flatMap((row, i) => (fits(row, i) ? [i] : []));
      const any = rows.length > 0 ? own.length > 0 : !isNarrow && (wanted === "" || line);
      const isShown = (!step?.value || box.dataset["step"] === step.value) && any;
      box.hidden = !isShown;
      if (isShown) [shown, found] = [shown + 1, found + own.length];
      const isSearch = isNarrow || wanted !== "";
      box.querySelectorAll("tbody tr").forEach((line, i) => {
        line.classList.toggle("arpo-found", isSearch && own.includes(i) && i < rows.length);
      });
    }
    const sorted = [...boxes].sort(orders[order?.value ?? "file"] ?? (() => 0));
    list.append(
      ...sorted.filter((box) => pinned.has(box)),
      ...sorted.filter((box) => !pinned.has(box)),
    );
    if (!count) return;
    const told = isNarrow || wanted !== "" ? `, ${found} trajectories` : "";
    count.value =
      finds === undefined
        ? "not a regular expression"
        : `${shown} of ${boxes.length} prompts${told}`;
  };
  for (const control of [step, order, words, tool, end, least, most]) {
    if (!control) continue;
    control.disabled = false;
    control.addEventListener("input", choose);
  }
  for (const box of boxes) {
    const pin = box.querySelector<HTMLButtonElement>("button[data-pin]");
    if (!pin) continue;
    pin.onclick = () => {
      if (!pinned.delete(box)) pinned.add(box);
      pin.setAttribute("aria-pressed", String(pinned.has(box)));
      pin.textContent = pinned.has(box) ? "Unpin" : "Pin to the top";
      choose();
    };
  }
  choose();
  const {
    prompt,
    t = -1,
    node = -1,
    token = -1,
  } = address.read({
    ...{ prompt: Infinity, t: Infinity, node: Infinity, token: Infinity },
  });
  const wanted = prompt === undefined ? undefined : byPrompt.get(prompt);
  if (wanted) openAt(wanted, node, token, t);
  else if (boxes[0]) boxes[0].open = true;
});
