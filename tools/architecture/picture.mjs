// The architecture diagram: every module in the lowest layer above all that it imports, with the
// dependencies that follow from others left out.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./imports.mjs";

const path = "docs/images/architecture.svg";

/** The module of a file in the diagram. */
function moduleOf(file) {
  const [folder, second] = file.split("/");
  if (folder === "common" || folder === "apps") return `${folder}/${second}`;
  if (folder === "src" || folder === "kernel") {
    if (folder === "src" && second === "api") return "arpo-lab";
    if (/^(index|cells|experimental)\.ts$/.test(second)) return "kernel/index";
    return `${folder}/${second.replace(/\.ts$/, "")}`;
  }
  return folder;
}

function moduleGraph(graph) {
  const modules = new Map();
  for (const [file, targets] of graph) {
    const module = moduleOf(file);
    if (!modules.has(module)) modules.set(module, new Set());
    for (const target of targets)
      if (moduleOf(target) !== module) modules.get(module).add(moduleOf(target));
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
const stride = 74;
const gap = 14;

/** Each layer's modules from left to right: near what they import, in two passes. */
function ordered(modules, layers) {
  const rows = [];
  for (const [module, layer] of layers) (rows[layer] ??= []).push(module);
  for (const row of rows) row.sort((a, b) => side(a) - side(b) || (a < b ? -1 : 1));
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
      row.sort((a, b) => side(a) - side(b) || keys.get(a) - keys.get(b) || (a < b ? -1 : 1));
    }
    spread();
  }
  return rows;
}

/** The toolkit to the left, the kernel to the right, what both use between them. */
const side = (module) => (/^kernel/.test(module) ? 2 : /^(src|arpo-lab|apps)/.test(module) ? 0 : 1);
const kind = (module) => ["toolkit", "ground", "kernel"][side(module)];

function draw(graph) {
  const modules = moduleGraph(graph);
  const layers = layersOf(modules);
  const rows = ordered(modules, layers);
  const widest = Math.max(...rows.map((row) => row.length));
  const width = widest * (wide + gap) + gap + 50;
  const height = rows.length * stride + 30;
  const at = new Map();
  rows.forEach((row, layer) => {
    // The kernel is drawn on the right, so that its arrows cross no others.
    const split = row.some((module) => side(module) === 2) && layer > 0 ? 0.7 : 1;
    const kernel = row.filter((module) => side(module) === 2);
    const rest = row.filter((module) => side(module) !== 2);
    const spread = (list, from, to) =>
      list.forEach((module, i) => {
        const x = from + ((to - from) * (i + 0.5)) / list.length;
        at.set(module, { x: Math.round(50 + (width - 50) * x), y: height - 40 - layer * stride });
      });
    if (split === 1) spread([...rest, ...kernel], 0, layer === 0 ? 1 : 0.7);
    else {
      spread(rest, 0, 0.68);
      spread(kernel, 0.7, 1);
    }
  });
  const arrows = essential(modules).map(([from, to]) => {
    const [a, b] = [at.get(from), at.get(to)];
    const [y1, y2] = [a.y + high / 2, b.y - high / 2 - 3];
    const middle = Math.round((y1 + y2) / 2);
    return `<path class="${kind(from)}" d="M${a.x} ${y1}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${y2}"/>`;
  });
  const boxes = [...at].map(([module, { x, y }]) => {
    const name = module.replace(/^(src|kernel)\//, "");
    return (
      `<g class="${kind(module)}"><rect x="${x - wide / 2}" y="${y - high / 2}" width="${wide}" height="${high}" rx="4"/>` +
      `<text x="${x}" y="${y + 4}">${name}</text></g>`
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
.ground rect{stroke:#5b636d}
@media (prefers-color-scheme:dark){text{fill:#e6e9ed}rect{fill:#1b1f24}.toolkit rect{stroke:#7fb2e5}path.toolkit{stroke:#7fb2e5}.kernel rect{stroke:#f0a35e}path.kernel{stroke:#f0a35e}}
</style>
<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" style="fill:#8a919b;stroke:none;marker-end:none"/></marker></defs>
${[...arrows, ...boxes, ...numbers].join("\n")}
</svg>
`;
}

/** Faults where the diagram in the docs differs from the code; `write` draws it again. */
export function checkPicture(graph, write) {
  const drawn = draw(graph);
  const file = join(root, path);
  if (write) writeFileSync(file, drawn);
  const there = existsSync(file) ? readFileSync(file, "utf8") : "";
  return there === drawn ? [] : [`${path} is out of date: node tools/check.mjs --write`];
}
