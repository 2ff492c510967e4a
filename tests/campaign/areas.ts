import type { Area } from "./attempt.js";
import { authorship } from "./attacks/authorship.js";
import { isolation } from "./attacks/isolation.js";
import { keys } from "./attacks/keys.js";
import { notebooks } from "./attacks/notebooks.js";
import { packages } from "./attacks/packages.js";
import { pageCommands } from "./attacks/page-commands.js";
import { paths } from "./attacks/paths.js";
import { requests } from "./attacks/requests.js";
import { sandboxes } from "./attacks/sandboxes.js";
import { templates } from "./attacks/templates.js";
import { texts } from "./attacks/texts.js";
import { cache } from "./faults/cache.js";
import { endpoints } from "./faults/endpoints.js";
import { evaluation } from "./faults/evaluation.js";
import { folders } from "./faults/folders.js";
import { kernel } from "./faults/kernel.js";
import { lab } from "./faults/lab.js";
import { powerCuts } from "./faults/power-cuts.js";
import { serve } from "./faults/serve.js";
import { sft, training } from "./faults/training.js";
import { tools } from "./faults/tools.js";

/** The areas of each campaign. */
export const campaigns: Record<string, readonly Area[]> = {
  faults: [
    training,
    folders,
    sft,
    kernel,
    lab,
    serve,
    endpoints,
    tools,
    cache,
    evaluation,
    powerCuts,
  ],
  attacks: [
    paths,
    texts,
    requests,
    templates,
    notebooks,
    packages,
    keys,
    sandboxes,
    authorship,
    isolation,
    pageCommands,
  ],
};
