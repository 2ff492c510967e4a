import type { LossName } from "../loss-names.js";
import { ceGppo } from "./ce-gppo.js";
import { cispo } from "./cispo.js";
import { clipCov } from "./clip-cov.js";
import { dppoKl, dppoTv } from "./dppo.js";
import { dro } from "./dro.js";
import { futureKl } from "./future-kl.js";
import { geoMean } from "./geo-mean.js";
import { gpg } from "./gpg.js";
import { gspo } from "./gspo.js";
import { klCov } from "./kl-cov.js";
import type { TokenRule } from "./rule.js";
import { sapo } from "./sapo.js";
import { gspoTurn, turn } from "./turns.js";
import { vanilla } from "./vanilla.js";

/**
 * What every loss does to single tokens, for reports and pages: without tensors, which a page has not.
 * The tests hold it against the gradients of the losses themselves.
 */
export const tokenRules: Readonly<Record<LossName, TokenRule>> = {
  vanilla,
  gspo,
  cispo,
  sapo,
  clip_cov: clipCov,
  kl_cov: klCov,
  geo_mean: geoMean,
  gpg,
  dro,
  dppo_tv: dppoTv,
  dppo_kl: dppoKl,
  ce_gppo: ceGppo,
  gspo_turn: gspoTurn,
  turn,
  future_kl: futureKl,
};
