import { batchesAhead, type StalenessLimit } from "./definition.js";

/** The recipe one_step_off_policy: the next batch is drawn while one is trained on. */
export const verlOneStep: StalenessLimit = {
  name: "verl-one-step",
  title: "verl, one step off policy",
  words: "everything but the first batch is one update old",
  ...{ bound: 1, counts: "updates", fixed: true },
  admits: batchesAhead,
  older: "trained",
};

/** The recipe fully_async_policy: a count of samples for every weights that the sampler gets, those left over included. */
export const verlFullyAsync: StalenessLimit = {
  name: "verl-fully-async",
  title: "verl, fully asynchronous",
  words: "for every weights, so many samples beyond those that it trains on until the next ones",
  ...{ bound: 0.1, counts: "share", syncEvery: 4 },
  admits: ({ version, batch, bound, syncEvery }) =>
    version * batch + Math.floor(batch * (1 + bound) * syncEvery),
  older: "trained",
};

/** The sampler of its V1 trainer, known from its documentation: it waits, or drops the prompt's group. */
export const verlWait: StalenessLimit = {
  name: "verl-wait",
  title: "verl, V1 sampler that waits",
  words: "nothing is drawn that would be more than the bound old",
  ...{ bound: 8, counts: "updates" },
  admits: batchesAhead,
  older: "trained",
};

/** The same, where it drops. */
export const verlDrop: StalenessLimit = {
  name: "verl-drop",
  title: "verl, V1 sampler that drops",
  words: "groups that are older than the bound are dropped",
  ...{ bound: 8, counts: "updates" },
  older: "dropped",
};
