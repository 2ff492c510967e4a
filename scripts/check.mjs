// `npm run check`: what holds the house together, from its sources alone. No circles, no arrow through
// a wall, an example on every export, no test that waits a fixed time, and the picture in
// docs/architecture.md as the code gives it. `--write` draws that picture anew.
import { circles } from "./house/circles.mjs";
import { exportedValues } from "./house/examples.mjs";
import { importGraph } from "./house/imports.mjs";
import { checkPicture } from "./house/picture.mjs";
import { fixedWaits } from "./house/waits.mjs";
import { breaches } from "./house/walls.mjs";

let failed = 0;
function show(what, faults) {
  console.log(
    `${faults.length === 0 ? "✔" : "✖"} ${what}${faults.length ? `: ${faults.length} are not` : ""}`,
  );
  for (const fault of faults) console.log(`  ${fault}`);
  failed += faults.length;
}

const graph = importGraph();
const arrows = [...graph.values()].reduce((sum, targets) => sum + targets.length, 0);
console.log(`${graph.size} files, ${arrows} imports between them`);
show("no circles, among files or among the boxes of a folder", circles(graph));
show("no import goes through a wall", breaches(graph));

const exported = exportedValues();
show(
  `${exported.length} exported values have examples`,
  exported.filter((one) => !one.example).map(({ path, name }) => `${path}: ${name}`),
);
show("no test waits a fixed time or is judged by the clock", fixedWaits());
show(
  "the picture in docs/architecture.md is the code's",
  checkPicture(graph, process.argv.includes("--write")),
);
process.exit(failed > 0 ? 1 : 0);
