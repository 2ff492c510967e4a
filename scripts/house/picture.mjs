// The picture of the house: every room on the lowest floor it can stand on, above all that it imports,
// with the arrows that no longer way says already.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./imports.mjs";

const path = "docs/images/house.svg";

/** The room of a file, as the picture has it. */
function roomOf(file) {
  const [wing, second] = file.split("/");
  if (wing === "src" || wing === "kernel") {
    if (second === "index.ts") return wing === "src" ? "arpo-lab" : "kernel/index";
    return `${wing}/${second.replace(/\.ts$/, "")}`;
  }
  return wing;
}

function roomGraph(graph) {
  const rooms = new Map();
  for (const [file, targets] of graph) {
    const room = roomOf(file);
    if (!rooms.has(room)) rooms.set(room, new Set());
    for (const target of targets) if (roomOf(target) !== room) rooms.get(room).add(roomOf(target));
  }
  return new Map([...rooms].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function floorsOf(rooms) {
  const floors = new Map();
  const floor = (room, below = []) => {
    if (below.includes(room)) return 0; // a circle, which another check reports
    if (!floors.has(room)) {
      const under = [...(rooms.get(room) ?? [])].map((r) => floor(r, [...below, room]) + 1);
      floors.set(room, Math.max(0, ...under));
    }
    return floors.get(room);
  };
  for (const room of rooms.keys()) floor(room);
  return floors;
}

/** The arrows without those that a way through other rooms says too. */
function essential(rooms) {
  const reach = (room, seen = new Set()) => {
    for (const next of rooms.get(room) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return [...rooms].flatMap(([room, targets]) =>
    [...targets]
      .filter((t) => ![...targets].some((other) => other !== t && reach(other).has(t)))
      .sort()
      .map((t) => [room, t]),
  );
}

const wide = 122;
const high = 30;
const stride = 74;
const gap = 14;

/** Each floor's rooms from left to right: near what they stand on, twice over. */
function ordered(rooms, floors) {
  const rows = [];
  for (const [room, floor] of floors) (rows[floor] ??= []).push(room);
  for (const row of rows) row.sort((a, b) => side(a) - side(b) || (a < b ? -1 : 1));
  const place = new Map();
  const spread = () =>
    rows.forEach((row) => row.forEach((room, i) => place.set(room, (i + 0.5) / row.length)));
  spread();
  const back = new Map([...rooms.keys()].map((room) => [room, []]));
  for (const [room, targets] of rooms) for (const t of targets) back.get(t)?.push(room);
  for (let pass = 0; pass < 4; pass++) {
    for (const row of rows) {
      const key = (room) => {
        const near = pass % 2 ? back.get(room) : [...rooms.get(room)];
        const sum = near.reduce((s, r) => s + place.get(r), 0);
        return near.length ? sum / near.length : place.get(room);
      };
      const keys = new Map(row.map((room) => [room, key(room)]));
      row.sort((a, b) => side(a) - side(b) || keys.get(a) - keys.get(b) || (a < b ? -1 : 1));
    }
    spread();
  }
  return rows;
}

/** The toolkit to the left, the kernel to the right, what both use between them. */
const side = (room) => (/^kernel/.test(room) ? 2 : /^(src|arpo-lab|cli)/.test(room) ? 0 : 1);
const kind = (room) => ["toolkit", "ground", "kernel"][side(room)];

function draw(graph) {
  const rooms = roomGraph(graph);
  const floors = floorsOf(rooms);
  const rows = ordered(rooms, floors);
  const widest = Math.max(...rows.map((row) => row.length));
  const width = widest * (wide + gap) + gap + 50;
  const height = rows.length * stride + 30;
  const at = new Map();
  rows.forEach((row, floor) => {
    // The kernel has the right of the picture to itself, so that its arrows cross no other's.
    const split = row.some((room) => side(room) === 2) && floor > 0 ? 0.7 : 1;
    const kernel = row.filter((room) => side(room) === 2);
    const rest = row.filter((room) => side(room) !== 2);
    const spread = (list, from, to) =>
      list.forEach((room, i) => {
        const x = from + ((to - from) * (i + 0.5)) / list.length;
        at.set(room, { x: Math.round(50 + (width - 50) * x), y: height - 40 - floor * stride });
      });
    if (split === 1) spread([...rest, ...kernel], 0, floor === 0 ? 1 : 0.7);
    else {
      spread(rest, 0, 0.68);
      spread(kernel, 0.7, 1);
    }
  });
  const arrows = essential(rooms).map(([from, to]) => {
    const [a, b] = [at.get(from), at.get(to)];
    const [y1, y2] = [a.y + high / 2, b.y - high / 2 - 3];
    const middle = Math.round((y1 + y2) / 2);
    return `<path class="${kind(from)}" d="M${a.x} ${y1}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${y2}"/>`;
  });
  const boxes = [...at].map(([room, { x, y }]) => {
    const name = room.replace(/^(src|kernel)\//, "");
    return (
      `<g class="${kind(room)}"><rect x="${x - wide / 2}" y="${y - high / 2}" width="${wide}" height="${high}" rx="4"/>` +
      `<text x="${x}" y="${y + 4}">${name}</text></g>`
    );
  });
  const numbers = rows.map(
    (_, floor) => `<text class="floor" x="24" y="${height - 36 - floor * stride}">${floor}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The rooms of the house by floors, each above what it imports">
<style>
text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#1b1f24}
.floor{fill:#8a919b}
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

/** Faults where the picture in the docs is not what the code gives; `write` draws it anew. */
export function checkPicture(graph, write) {
  const drawn = draw(graph);
  const file = join(root, path);
  if (write) writeFileSync(file, drawn);
  const there = existsSync(file) ? readFileSync(file, "utf8") : "";
  return there === drawn ? [] : [`${path} is of another code: node scripts/check.mjs --write`];
}
