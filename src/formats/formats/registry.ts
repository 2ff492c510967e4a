import { Registry } from "../../../common/options/registry.js";
import { areal } from "./areal.js";
import { ownTrees } from "./arpo-lab.js";
import { atif } from "./atif.js";
import { findings } from "./finding.js";
import type { RolloutFormat } from "./format.js";
import { inspectLogs } from "./inspect.js";
import { messageLogs } from "./messages.js";
import { openEnvCapture } from "./openenv-capture.js";
import { otel } from "./otel.js";
import { piSessions } from "./pi.js";
import { primeTokens } from "./prime-tokens.js";
import { skyrl } from "./skyrl.js";
import { slime } from "./slime.js";
import { tinkerSamples } from "./tinker-samples.js";
import { tinkerSummaries } from "./tinker-summaries.js";
import { tinkerTrajectories } from "./tinker-trajectories.js";
import { trl } from "./trl.js";
import { verifiersResults } from "./verifiers-results.js";
import { verifiersTraces } from "./verifiers-traces.js";
import { verl } from "./verl.js";

/** Every format, those with the most telling records first: a record is of the first that it fits. */
export const rolloutFormats = new Registry<RolloutFormat>("rollout format", [
  ownTrees,
  findings,
  atif,
  verifiersTraces,
  openEnvCapture,
  otel,
  piSessions,
  inspectLogs,
  slime,
  primeTokens,
  tinkerSamples,
  tinkerTrajectories,
  tinkerSummaries,
  areal,
  skyrl,
  verl,
  trl,
  verifiersResults,
  messageLogs,
]);
