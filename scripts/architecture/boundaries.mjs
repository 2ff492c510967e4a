// Boundaries that no import may cross, whatever the other dependencies are.
const boundaries = [
  ["kernel/", /^(src|cli)\//, "the kernel does not depend on the toolkit"],
  ["src/", /^(kernel|cli)\//, "the toolkit runs in any process, kernel or not"],
  ["picture/", /^(?!(picture|platform)\/)/, "shared by all"],
  ["platform/", /^(?!platform\/)/, "shared by all"],
  ["arguments/", /^(?!arguments\/)/, "shared by all"],
  ["http-server/", /^(?!(http-server|platform)\/)/, "shared by all"],
  ["kernel/compile/", /^kernel\/(run|wire|display)\//, "the compiler sees no running value"],
  [
    "kernel/wire/",
    /^kernel\/(run|compile|display)\//,
    "the protocol's thread sees no value and no cell",
  ],
];

/** Every import across a boundary, as a sentence. */
export function breaches(graph) {
  return [...graph].flatMap(([path, targets]) =>
    boundaries.flatMap(([from, to, why]) =>
      path.startsWith(from)
        ? targets.filter((t) => to.test(t)).map((t) => `${path} imports ${t}: ${why}`)
        : [],
    ),
  );
}
