import { relative } from "node:path";
import { fetchModel } from "../../../src/interop/convert/fetch/fetch-model.js";
import { downloadOf, knownModels } from "../../../src/interop/convert/fetch/known-models.js";
import { aside, say } from "../terminal/say.js";
import { stoppable } from "../terminal/stopping.js";

/** What the command line gives. */
export interface FetchCommandOptions {
  to?: string;
  from?: string;
}

/** Fetches a model and says what it downloads and what to do with it; without a name, lists what can be had. */
export async function runFetch(
  name: string | undefined,
  options: FetchCommandOptions,
): Promise<void> {
  if (name === undefined) {
    for (const [known, model] of Object.entries(knownModels)) say(`${known}: ${downloadOf(model)}`);
    say("Models of a hub: hf download OWNER/NAME --local-dir NAME, then give the path NAME");
    return;
  }
  if (Object.hasOwn(knownModels, name) && options.from === undefined) {
    aside(downloadOf(knownModels[name]!));
  }
  let told = 0;
  const fetched = await fetchModel(name, {
    ...options,
    signal: stoppable("early"),
    onProgress: (done, total) => {
      const tenths = Math.floor((10 * done) / total);
      if (tenths > told) aside(`${(done / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB`);
      told = Math.max(told, tenths);
    },
  });
  const path = relative("", fetched.path) || fetched.path;
  say(`${fetched.title} (${fetched.license})`);
  say(`from ${fetched.from}, its hash checked, at ${path}`);
  say(`Sample answers: arpo-lab sample --model ${path}; serve it: arpo-lab serve ${path}`);
}
