/** A figure somebody published, and where. */
export interface PublishedFigure {
  benchmark: string;
  model: string;
  algorithm: "ARPO" | "AEPO";
  /** pass@k */
  k: number;
  /** Per cent. */
  value: number;
  source: string;
}

const arpo = "README of RUC-NLPIR/ARPO, overview of results";
const aepo = "abstract of arXiv:2510.14545 (AEPO)";
const model = "Qwen3-14B";

/**
 * Published figures of ARPO and AEPO on the real benchmarks, judged by a 72B model. Only what the
 * sources say explicitly; a table elsewhere gives 64.5 and 26.3 for AEPO's pass@5 on GAIA and HLE.
 */
export const published: readonly PublishedFigure[] = [
  { benchmark: "gaia", model, algorithm: "ARPO", k: 5, value: 61.2, source: arpo },
  { benchmark: "hle", model, algorithm: "ARPO", k: 5, value: 24.0, source: arpo },
  { benchmark: "gaia", model, algorithm: "AEPO", k: 1, value: 47.6, source: aepo },
  { benchmark: "hle", model, algorithm: "AEPO", k: 1, value: 11.2, source: aepo },
  { benchmark: "webwalker", model, algorithm: "AEPO", k: 1, value: 43.0, source: aepo },
  { benchmark: "gaia", model, algorithm: "AEPO", k: 5, value: 65.0, source: aepo },
  { benchmark: "hle", model, algorithm: "AEPO", k: 5, value: 26.0, source: aepo },
  { benchmark: "webwalker", model, algorithm: "AEPO", k: 5, value: 70.0, source: aepo },
];
