/** What an evaluation was made with: enough to make it again. */
export interface EvaluationSettings {
  policy: string;
  /** What tells the policy's weights from others, where it is known. */
  weights?: string;
  /** How the questions were asked; nothing of it is known of answers that were read from files. */
  seed?: number;
  mode?: "completion" | "default";
  asReference?: boolean;
  maxTokens?: number;
  chained?: number;
  timeoutMs?: number;
  limits?: Record<string, number>;
  /** Tags of the tools. */
  tools?: string[];
  judge?: string;
  /** Predictions that a file did not hold and that were taken out of its outputs. */
  extracted?: number;
  /** By benchmark: what its questions were asked with. */
  asked: Record<string, { prompt: string; sampling: Record<string, unknown>; sha256: string }>;
}
