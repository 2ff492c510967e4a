// Walls that no import may go through, whichever way the other arrows lie.
const walls = [
  ["kernel/", /^(src|cli)\//, "the kernel knows nothing of what is taught on it"],
  ["src/", /^(kernel|cli)\//, "the toolkit runs in any process, kernel or not"],
  ["picture/", /^(?!(picture|platform)\/)/, "ground"],
  ["platform/", /^(?!platform\/)/, "ground"],
  ["spelling/", /^(?!spelling\/)/, "ground"],
  ["http-server/", /^(?!(http-server|platform)\/)/, "ground"],
  ["kernel/compile/", /^kernel\/(run|wire|display)\//, "the compiler sees no running value"],
  [
    "kernel/wire/",
    /^kernel\/(run|compile|display)\//,
    "the protocol's thread sees no value and no cell",
  ],
];

/** Every import through a wall, as a sentence. */
export function breaches(graph) {
  return [...graph].flatMap(([path, targets]) =>
    walls.flatMap(([from, to, why]) =>
      path.startsWith(from)
        ? targets.filter((t) => to.test(t)).map((t) => `${path} imports ${t}: ${why}`)
        : [],
    ),
  );
}
