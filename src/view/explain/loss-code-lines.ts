import type { CodeLine } from "./payload.js";

const loss = "src/learn/loss";
const at = (file: string, code: string): CodeLine => ({ file: `${loss}/${file}.ts`, code });

/** The lines of the losses by name, and of the rules that say what they leave of a gradient. */
export const lossCodeLines = {
  boundedLogRatio: at(
    "loss-parts",
    "return logprobs.sub<Tensor>(oldLogprobs).clipByValue(-widestLogRatio, widestLogRatio);",
  ),
  cispoWeight: at("cispo", "const weight: Tensor = detached(ratio.clipByValue(low, high));"),
  cispoLoss: at(
    "cispo",
    "const losses: Tensor = weight.mul(input.advantages).mul(input.logprobs).neg();",
  ),
  cispoKept: at("tokens/cispo", "const weight = clamp(ratio, low, high);"),
  sapoGate: at(
    "sapo",
    "const gate: Tensor = logRatio.exp().sub(1).mul<Tensor>(tau).sigmoid().mul(4).div(tau);",
  ),
  sapoLoss: at(
    "sapo",
    'loss: totalOf("sapo", gate.mul<Tensor>(advantages).neg(), input, options),',
  ),
  sapoKept: at("tokens/sapo", "weight: 4 * gate * (1 - gate) * ratio,"),
  clipCovRatio: at("clip-cov", "const ratio: Tensor = logRatio.exp();"),
  clipCovClip: at(
    "clip-cov",
    "const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();",
  ),
  clipCovCovariance: at(
    "clip-cov",
    "const covariance: Tensor = advantages .sub(maskedTensorMean(advantages, mask)) .mul(now.sub(maskedTensorMean(now, mask)));",
  ),
  clipCovChosen: at(
    "clip-cov",
    "const chosen = greatest(keys, candidates, shareOf(mask.sum(), clipCovRatio));",
  ),
  clipCovLoss: at(
    "clip-cov",
    "const losses: Tensor = evenMaximum(unclipped, clipped).mul(tf.sub<Tensor>(1, chosen));",
  ),
  clipCovKept: at(
    "tokens/clip-cov",
    'return chosen ? { ...outcome, region: "chosen", weight: 0, loss: 0 } : outcome;',
  ),
  klCovCovariance: at(
    "kl-cov",
    "const covariance: Tensor = centred(advantages).mul(centred(detached(logprobs)));",
  ),
  klCovChosen: at("kl-cov", ": greatest(covariance, mask.greater(0), shareOf(count, klCovRatio));"),
  klCovHeld: at("kl-cov", "const held: Tensor = size.mul<Tensor>(chosen).mul(klCovCoefficient);"),
  klCovLoss: at("kl-cov", "const losses: Tensor = held.sub(logRatio.exp().mul(advantages));"),
  klCovKept: at("tokens/kl-cov", "hold: klCovCoefficient * Math.sign(logRatio),"),
  geoMeanClip: at(
    "geo-mean",
    "const clipped = sign.mul<Tensor>(evenMinimum(sign.mul(logRatio), sign.mul(within)));",
  ),
  geoMeanRow: at(
    "geo-mean",
    "const rowMean = (values: Tensor): Tensor => values.mul(mask).sum(-1).div(mask.sum(-1).add(1e-8));",
  ),
  geoMeanLoss: at(
    "geo-mean",
    "const losses: Tensor = rowMean(advantages).mul<Tensor>(rowMean(clipped).exp()).neg();",
  ),
  geoMeanTotal: at("geo-mean", "loss: weighed.mean(),"),
  geoMeanKept: at("tokens/geo-mean", "const moves = advantage !== 0 && bounded === logRatio;"),
  gpgLoss: at("gpg", "const losses: Tensor = logprobs.mul(advantages).neg();"),
  gpgKept: at("tokens/gpg", '...{ ratio, region: "inside", used: advantage, weight: 1 },'),
  droRatio: at("dro", "const logRatio: Tensor = logprobs.sub(oldLogprobs);"),
  droLoss: at(
    "dro",
    "const losses: Tensor = logRatio .square() .mul(beta / 2) .sub(logprobs.mul(advantages));",
  ),
  droKept: at("tokens/dro", "const hold = droBeta * logRatio;"),
  dppoWeight: at("dppo", 'const weight: Tensor = tf.minimum(ratio, c).mul(valid.cast("float32"));'),
  dppoTv: at(
    "dppo",
    'if (by === "tv") return tf.where(rising, move.lessEqual(up), move.greaterEqual(-down));',
  ),
  dppoKl: at("dppo", "return old.mul<Tensor>(oldLogprobs.sub(logprobs)).add(rest.mul(others));"),
  dppoLoss: at(
    "dppo",
    "const losses: Tensor = weight.mul(input.advantages).mul<Tensor>(input.logprobs).neg();",
  ),
  dppoKept: at("tokens/dppo", "const weight = far ? 0 : bounded;"),
  gppoRatio: at("ce-gppo", "const ratio: Tensor = logRatio.exp();"),
  gppoWeight: at(
    "ce-gppo",
    "const weight = either(below, kept(gppoLow * low), either(above, kept(gppoHigh * high), ratio));",
  ),
  gppoPlain: at("ce-gppo", "const plain: Tensor = weight.mul(advantages).neg();"),
  gppoLoss: at(
    "ce-gppo",
    "const losses = either(advantages.less(0), evenMinimum(plain, cap), plain);",
  ),
  gppoKept: at("tokens/ce-gppo", '? ["below", gppoLow * low]'),
  gspoTurnRatio: at("gspo-turn", "const means = sums.div<tf.Tensor2D>(tf.maximum(sizes, 1));"),
  gspoTurnClip: at(
    "gspo-turn",
    "const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();",
  ),
  gspoTurnLoss: at(
    "gspo-turn",
    'loss: totalOf("gspo_turn", evenMaximum(unclipped, clipped), input, options),',
  ),
  turnMeans: at(
    "turn",
    "const means = sumByTurn(logRatio.mul(mask), places).div<tf.Tensor2D>(sizes);",
  ),
  turnRatio: at("turn", "const ratio: Tensor = spreadByTurn(means.exp(), places).mul(mask);"),
  turnClip: at(
    "turn",
    "const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();",
  ),
  turnWorse: at("turn", "const worse = evenMaximum(unclipped, clipped);"),
  turnLoss: at(
    "turn",
    "const losses = either(advantages.less(0), evenMinimum(cap, worse), worse);",
  ),
  turnKept: at(
    "tokens/turns",
    "slopes[turn]! -= (weight * used * (row.weights?.[t] ?? 1)) / sizes[turn]!;",
  ),
  futureSum: at("future-kl", "sum = sum.add(later.mul(decay ** reach));"),
  futureClip: at("future-kl", "const bounded: Tensor = raw.clipByValue(low, high);"),
  futureUsed: at(
    "future-kl",
    "const advantages: Tensor = future.factor.mul(futureWeight).add(1).mul(input.advantages);",
  ),
  futureBounds: at(
    "future-kl",
    "const clipped: Tensor = ratio.clipByValue(low, high).mul(advantages).neg();",
  ),
  futureWorse: at("future-kl", "const worse = evenMaximum(unclipped, clipped);"),
  futureLoss: at(
    "future-kl",
    "const losses = either(advantages.less(0), evenMinimum(cap, worse), worse);",
  ),
  futureKept: at(
    "tokens/future-kl",
    'return dropped ? { ...told, region: "dropped", weight: 0, loss: 0 } : told;',
  ),
  rowClip: at(
    "gspo",
    "const clipped: Tensor = perToken.clipByValue(low, high).mul(advantages).neg();",
  ),
  "newer token-mean": at(
    "aggregate",
    'if (mode === "token-mean") return divide(masked.sum(), mask.sum());',
  ),
  "newer rows": at("aggregate", "const mean = divide(perRow.mul(filled).sum(), filled.sum());"),
  "newer norm": at(
    "aggregate",
    'return mode === "seq-mean-token-sum-norm" ? mean.div(paddedLength) : mean;',
  ),
} as const satisfies Record<string, CodeLine>;
