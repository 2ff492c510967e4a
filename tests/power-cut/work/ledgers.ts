// Small files that others count on: a notebook, the list of jobs, a cache of searches.
import { join } from "node:path";
import { emptyNotebook, writeNotebook } from "../../../kernel/notebook/write.js";
import { JobLedger } from "../../../src/interop/job/job-ledger.js";
import { exportJsonCache } from "../../../src/tools/search/cache-files.js";
import { SearchCache } from "../../../src/tools/search/search-cache.js";
import { acknowledge, folder } from "./acknowledge.js";

const file = emptyNotebook();
const ledger = new JobLedger(join(folder, "jobs"));
const cache = new SearchCache();
for (let n = 1; n <= 3; n++) {
  file.notebook.metadata = { n };
  writeNotebook(join(folder, "own.ipynb"), file);
  acknowledge({ notebook: n });
  const name = await ledger.keep(new TextEncoder().encode(`package ${n}`));
  await ledger.save({
    ...{ id: `job-${n}`, run: "r", attempt: 1, address: "a", package: name, lab: "l", out: "/o" },
    ...{ settings: {}, state: "written", at: n },
  });
  acknowledge({ job: n });
  cache.set(`query ${n}`, { text: "found", at: n });
  exportJsonCache(cache, join(folder, "cache.json"));
  acknowledge({ cached: n });
}
