// Published figures of ARPO and AEPO stand with their benchmarks: judged by a 72B model, and only what the sources
// say explicitly. A table elsewhere gives 64.5 and 26.3 for AEPO's pass@5 on GAIA and HLE.

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

export const publishedModel = "Qwen3-14B";
export const arpoReadme = "README of RUC-NLPIR/ARPO, overview of results";
export const aepoAbstract = "abstract of arXiv:2510.14545 (AEPO)";
