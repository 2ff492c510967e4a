// The architecture diagrams: every module in the lowest layer above all that it imports, with the
// dependencies that follow from others left out. One of the whole, in which the kernel is one module, and one of the
// kernel.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./imports.mjs";

/** The diagrams, by file: the module of a source, undefined where it is not in the diagram. */
const pictures = {
  "docs/images/architecture.svg"(file) {
    const [folder, second] = file.split("/");
    if (folder === "src") return second === "api" ? "arpo-lab" : second.replace(/\.ts$/, "");
    return folder === "common" || folder === "apps" ? `${folder}/${second}` : folder;
  },
  "docs/images/architecture-kernel.svg"(file) {
    const [folder, second] = file.split("/");
    if (folder !== "kernel") return undefined;
    return /^(index|cells|experimental)\.ts$/.test(second) ? "index" : second.replace(/\.ts$/, "");
  },
};

function moduleGraph(graph, moduleOf) {
  const modules = new Map();
  for (const [file, targets] of graph) {
    const module = moduleOf(file);
    if (module === undefined) continue;
    if (!modules.has(module)) modules.set(module, new Set());
    for (const target of targets.map(moduleOf))
      if (target !== undefined && target !== module) modules.get(module).add(target);
  }
  return new Map([...modules].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function layersOf(modules) {
  const layers = new Map();
  const layer = (module, below = []) => {
    if (below.includes(module)) return 0; // a circular import, which another check reports
    if (!layers.has(module)) {
      const under = [...(modules.get(module) ?? [])].map((r) => layer(r, [...below, module]) + 1);
      layers.set(module, Math.max(0, ...under));
    }
    return layers.get(module);
  };
  for (const module of modules.keys()) layer(module);
  return layers;
}

/** The dependencies without those that follow from others. */
function essential(modules) {
  const reach = (module, seen = new Set()) => {
    for (const next of modules.get(module) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return [...modules].flatMap(([module, targets]) =>
    [...targets]
      .filter((t) => ![...targets].some((other) => other !== t && reach(other).has(t)))
      .sort()
      .map((t) => [module, t]),
  );
}

const wide = 122;
const high = 30;
const stride = 58;
const gap = 14;

/** Each layer's modules from left to right: near what they import, in two passes. */
function ordered(modules, layers) {
  const rows = [];
  for (const [module, layer] of layers) (rows[layer] ??= []).push(module);
  for (const row of rows) row.sort();
  const place = new Map();
  const spread = () =>
    rows.forEach((row) => row.forEach((module, i) => place.set(module, (i + 0.5) / row.length)));
  spread();
  const back = new Map([...modules.keys()].map((module) => [module, []]));
  for (const [module, targets] of modules) for (const t of targets) back.get(t)?.push(module);
  for (let pass = 0; pass < 4; pass++) {
    for (const row of rows) {
      const key = (module) => {
        const near = pass % 2 ? back.get(module) : [...modules.get(module)];
        const sum = near.reduce((s, r) => s + place.get(r), 0);
        return near.length ? sum / near.length : place.get(module);
      };
      const keys = new Map(row.map((module) => [module, key(module)]));
      row.sort((a, b) => keys.get(a) - keys.get(b) || (a < b ? -1 : 1));
    }
    spread();
  }
  return rows;
}

/** Programs, the toolkit, what it shares with the kernel, the kernel. */
const kind = (module) =>
  /^apps/.test(module)
    ? "program"
    : /^common/.test(module)
      ? "ground"
      : module === "kernel"
        ? "kernel"
        : "toolkit";

function draw(graph, moduleOf) {
  const modules = moduleGraph(graph, moduleOf);
  const layers = layersOf(modules);
  const rows = ordered(modules, layers);
  const widest = Math.max(...rows.map((row) => row.length));
  const width = widest * (wide + gap) + gap + 50;
  const height = rows.length * stride + 30;
  const at = new Map();
  rows.forEach((row, layer) =>
    row.forEach((module, i) => {
      const x = (i + 0.5) / row.length;
      at.set(module, { x: Math.round(50 + (width - 50) * x), y: height - 40 - layer * stride });
    }),
  );
  const arrows = essential(modules).map(([from, to]) => {
    const [a, b] = [at.get(from), at.get(to)];
    const [y1, y2] = [a.y + high / 2, b.y - high / 2 - 3];
    const middle = Math.round((y1 + y2) / 2);
    return `<path class="${kind(from)}" d="M${a.x} ${y1}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${y2}"/>`;
  });
  const boxes = [...at].map(([module, { x, y }]) => {
    return (
      `<g class="${kind(module)}"><rect x="${x - wide / 2}" y="${y - high / 2}" width="${wide}" height="${high}" rx="4"/>` +
      `<text x="${x}" y="${y + 4}">${module}</text></g>`
    );
  });
  const numbers = rows.map(
    (_, layer) => `<text class="layer" x="24" y="${height - 36 - layer * stride}">${layer}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The modules by layer, each above what it imports">
<style>
text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#1b1f24}
.layer{fill:#8a919b}
path{fill:none;stroke:#8a919b;stroke-width:1;opacity:.55;marker-end:url(#tip)}
rect{fill:#fff;stroke-width:1.5}
.toolkit rect{stroke:#2b6cb0}path.toolkit{stroke:#2b6cb0}
.kernel rect{stroke:#b7560b}path.kernel{stroke:#b7560b}
.ground rect{stroke:#5b636d}.program rect{stroke:#2f7d4f}path.program{stroke:#2f7d4f}
@media (prefers-color-scheme:dark){text{fill:#e6e9ed}rect{fill:#1b1f24}.toolkit rect{stroke:#7fb2e5}path.toolkit{stroke:#7fb2e5}.kernel rect{stroke:#f0a35e}path.kernel{stroke:#f0a35e}.program rect{stroke:#7cc99a}path.program{stroke:#7cc99a}}
</style>
<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" style="fill:#8a919b;stroke:none;marker-end:none"/></marker></defs>
${[...arrows, ...boxes, ...numbers].join("\n")}
</svg>
`;
}

/** Modules of the whole: more than these no reader sees at once. */
const most = 30;

/** Faults where the diagrams in the docs differ from the code; `write` draws them again. */
export function checkPicture(graph, write) {
  const faults = [];
  for (const [path, moduleOf] of Object.entries(pictures)) {
    const count = new Set([...graph.keys()].map(moduleOf).filter(Boolean)).size;
    if (count > most) faults.push(`${path} has ${count} modules, which is more than ${most}`);
    const drawn = draw(graph, moduleOf);
    const file = join(root, path);
    if (write) writeFileSync(file, drawn);
    const there = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (there !== drawn) faults.push(`${path} is out of date: node tools/check.mjs --write`);
  }
  return faults;
}
