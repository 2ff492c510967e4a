import { openExplorers } from "../../explorer/page/start-explorer.js";
import { starter } from "../../page/start-view.js";

/** Brings an import to life: prompts open their trees, and can be chosen and ordered. */
export const startImported = starter(undefined, (root, _payload, _palette, colours) => {
  const list = root.querySelector<HTMLElement>("[data-prompts]");
  if (!list) return;
  const boxes = [...list.querySelectorAll<HTMLDetailsElement>("details[data-prompt]")];
  openExplorers(boxes, colours);
  if (boxes[0]) boxes[0].open = true;
  const choice = (name: string) =>
    root.querySelector<HTMLSelectElement | HTMLInputElement>(`[data-choose=${name}]`);
  const [step, order, words] = [choice("step"), choice("order"), choice("words")];
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
  const choose = () => {
    const wanted = words?.value.toLowerCase() ?? "";
    let shown = 0;
    for (const box of boxes) {
      const fits =
        (!step?.value || box.dataset["step"] === step.value) &&
        (wanted === "" ||
          (box.firstElementChild?.textContent ?? "").toLowerCase().includes(wanted));
      box.hidden = !fits;
      if (fits) shown++;
    }
    list.append(...[...boxes].sort(orders[order?.value ?? "file"] ?? (() => 0)));
    if (count) count.value = `${shown} of ${boxes.length} prompts`;
  };
  for (const control of [step, order, words]) {
    if (!control) continue;
    control.disabled = false;
    control.addEventListener("input", choose);
  }
  choose();
});
