// Boundaries that no import may cross, whatever the other dependencies are.
const boundaries = [
  ["kernel/", /^(src|apps)\//, "the kernel does not depend on the toolkit"],
  ["src/", /^(kernel|apps)\//, "the toolkit runs in any process, kernel or not"],
  ["src/(?!interop/|api/)", /^src\/interop\//, "what other programs need stands above the core"],
  ["common/", /^(?!common\/)/, "shared by all"],
  ["common/picture/", /^(?!common\/(picture|platform)\/)/, "figures know nothing else"],
  ["common/platform/", /^(?!common\/platform\/)/, "it knows nothing else"],
  ["common/files/", /^(?!common\/(files|platform)\/)/, "it knows nothing else"],
  ["common/options/", /^(?!common\/options\/)/, "checks know nothing else"],
  ["common/http-server/", /^(?!common\/(http-server|platform)\/)/, "it knows nothing else"],
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
      new RegExp(`^${from}`).test(path)
        ? targets.filter((t) => to.test(t)).map((t) => `${path} imports ${t}: ${why}`)
        : [],
    ),
  );
}
