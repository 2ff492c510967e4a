import { matcher, type RowFacts, rowFits } from "../../page/row-search.js";
import { starter } from "../../page/start-view.js";

/** What a row says, its cells, its reason and its response apart. */
const textOf = (line: HTMLTableRowElement): string =>
  [...line.querySelectorAll("td:not(:has(details)),summary,pre")]
    .map(({ textContent }) => textContent ?? "")
    .join("\n");

/** Brings the tables of scored trajectories to life: a search leaves the rows that it finds. */
export const startScored = starter<readonly RowFacts[]>("facts", (root, facts) => {
  const lines = [...root.querySelectorAll<HTMLTableRowElement>(".arpo-wide tbody tr")];
  const count = root.querySelector<HTMLOutputElement>("output[data-count]");
  const choice = (name: string) =>
    root.querySelector<HTMLSelectElement | HTMLInputElement>(`[data-choose=${name}]`);
  const controls = ["tool", "end", "least", "most"].map((name) => [name, choice(name)] as const);
  const words = choice("words");
  if (!words || !count) return;
  const choose = () => {
    const finds = matcher(words.value);
    words.setAttribute("aria-invalid", String(finds === undefined));
    const wish = Object.fromEntries(controls.map(([name, control]) => [name, control?.value]));
    let shown = 0;
    lines.forEach((line, i) => {
      // A wrong expression finds nothing.
      const isFound =
        rowFits(facts[i]!, wish) && (words.value === "" || finds?.(textOf(line)) === true);
      line.hidden = !isFound;
      if (isFound) shown++;
    });
    count.value =
      finds === undefined ? "not a regular expression" : `${shown} of ${lines.length} trajectories`;
    // What is found among the rest is not left behind a click.
    const rest = root.querySelector<HTMLDetailsElement>("details[data-rest]");
    const isSearch = words.value !== "" || Object.values(wish).some(Boolean);
    if (rest && isSearch) rest.open = true;
  };
  for (const control of [...controls.map(([, control]) => control), words]) {
    if (!control) continue;
    control.disabled = false;
    control.addEventListener("input", choose);
  }
  choose();
  performance.mark("arpo-scored");
});
