/** How the names of files end that rollouts are read from. */
export const readable = /\.(?:jsonl(?:\.zst)?|ndjson|json|parquet|eval)$/i;

/** The same for a message. */
export const readableNames = ".jsonl, .json, .parquet or .eval";
