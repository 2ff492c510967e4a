/** Steps as folders and files are named: `global_step_12_evals`, `step_12`, `iteration_000012`, `12.jsonl`. */
const folder =
  /(?:^|[/\\_-])(?:global[_-]?step|step|iteration|completions)[_-]?(\d+)(?=[/\\._-]|$)/gi;
const file = /(?:^|[/\\])(\d+)\.(?:jsonl|json|parquet)$/i;

/** The training step that a file's place names, if it names one; the innermost wins. */
export function stepOfPath(path: string): number | undefined {
  const own = file.exec(path)?.[1];
  const named = own ?? [...path.matchAll(folder)].at(-1)?.[1];
  return named === undefined ? undefined : Number(named);
}
