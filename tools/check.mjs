// `npm run check`: the rules of the architecture, from the sources and their declarations alone: no circular
// imports, no import across a boundary, an example on every stable export, a default on every stable option, a
// description of every stable parameter, no dead path, no test away from the source of its name, no test that waits a
// fixed time; the public API in docs/api-report.md and the picture in docs/architecture.md as the code gives them.
// `--write` writes both anew, docs/algorithms.md and docs/options.md.
import { checkAlgorithms } from "./architecture/algorithms.mjs";
import { brokenImports, checkApi } from "./architecture/api-report.mjs";
import { circles } from "./architecture/circles.mjs";
import { exportedValues } from "./architecture/examples.mjs";
import { importGraph } from "./architecture/imports.mjs";
import { uncheckedOptions } from "./architecture/options.mjs";
import { checkOptionPage } from "./architecture/option-page.mjs";
import { optionFaults } from "./architecture/options-once.mjs";
import { undescribedParameters, undocumentedOptions } from "./architecture/documented.mjs";
import { deadPaths } from "./architecture/dead-paths.mjs";
import { crowdedFolders } from "./architecture/folder-sizes.mjs";
import { checkPicture } from "./architecture/picture.mjs";
import { strayTests } from "./architecture/test-places.mjs";
import { fixedWaits } from "./architecture/waits.mjs";
import { breaches } from "./architecture/boundaries.mjs";
import { unknownEntries } from "./architecture/root-entries.mjs";
import { spreadMethods } from "./architecture/methods.mjs";
import { supplyChain } from "./architecture/supply-chain.mjs";

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
show("no circular imports, among files or among the entries of a folder", circles(graph));
show("no import crosses a boundary", breaches(graph));

const exported = exportedValues();
show(
  `${exported.length} stable values have examples`,
  exported.filter((one) => !one.example).map(({ path, name }) => `${path}: ${name}`),
);
const documented = undocumentedOptions();
show(`${documented.count} stable options say what they do and their default`, documented.faults);
const stated = optionFaults();
show(
  `${stated.count} options of tables are declared once, with their default in words`,
  stated.faults,
);
const described = undescribedParameters();
show(`${described.count} parameters of stable functions are described`, described.faults);
show(
  "the public surface is that of docs/api-report.md",
  checkApi(process.argv.includes("--write")),
);
show(
  "docs/algorithms.md has every estimator and loss of the code",
  await checkAlgorithms(process.argv.includes("--write")),
);
show(
  "docs/options.md has every option of the tables",
  await checkOptionPage(process.argv.includes("--write")),
);
show("no entry of the root is unknown (tools/architecture/root-entries.mjs)", unknownEntries());
show("no folder has more than 20 entries", crowdedFolders());
show("each method stands in at most 4 product files", await spreadMethods());
const { faults, packages, megabytes } = supplyChain();
show(
  `${packages} installed packages, ${megabytes.toFixed(0)} MB: licences, checksums, scripts and reasons are known`,
  faults,
);
show("documents and lessons import what there is", brokenImports());
show("options are checked by name, range and choice (checkOptions)", uncheckedOptions());
show("paths that comments and documents name are there", deadPaths());
show("a test stands beside the source of its name, or under tests/", strayTests());
show("no test waits a fixed time or is judged by the clock", fixedWaits());
show(
  "the picture in docs/architecture.md is the code's",
  checkPicture(graph, process.argv.includes("--write")),
);
process.exit(failed > 0 ? 1 : 0);
