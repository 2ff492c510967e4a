// Circular imports among files, and among the entries of each folder (its own files and its sub-folders).
// Without any, every folder can be read from its lowest layer up.
import { dirname } from "node:path";

/** Groups of nodes that reach each other (Tarjan), as lists of more than one. */
function circlesOf(edges) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const circles = [];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)));
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) circles.push(circle);
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return circles;
}

/** Every circle as a sentence with the imports that make it. */
export function circles(graph) {
  const found = circlesOf(graph).map((files) => `files import each other: ${files.join(", ")}`);
  const folders = new Set();
  for (const path of graph.keys())
    for (let at = dirname(path); ; at = dirname(at)) {
      folders.add(at);
      if (at === ".") break;
    }
  for (const folder of [...folders].sort()) {
    const prefix = folder === "." ? "" : `${folder}/`;
    const entryOf = (path) =>
      path.startsWith(prefix) ? path.slice(prefix.length).split("/")[0] : null;
    const edges = new Map();
    const because = new Map();
    for (const [path, targets] of graph) {
      const from = entryOf(path);
      if (from === null) continue;
      if (!edges.has(from)) edges.set(from, new Set());
      for (const target of targets) {
        const to = entryOf(target);
        if (to === null || to === from) continue;
        edges.get(from).add(to);
        const key = `${from} -> ${to}`;
        if (!because.has(key)) because.set(key, []);
        because.get(key).push(`${path} imports ${target}`);
      }
    }
    for (const circle of circlesOf(edges)) {
      const arrows = [...because]
        .filter(([key]) => key.split(" -> ").every((end) => circle.includes(end)))
        .sort((a, b) => a[1].length - b[1].length)
        .map(([key, why]) => `    ${key}: ${why.slice(0, 3).join("; ")}`);
      found.push(`in ${folder}, ${circle.join(" and ")} import each other\n${arrows.join("\n")}`);
    }
  }
  return found;
}
