import { labOnNode, shellWord } from "../upload/lab-on-node.js";

/** What runs on a node: `sh run.sh LAB OUT ATTEMPT [key=value…]`, where LAB says how this package is there. */
export const runScript = `#!/bin/sh
set -eu
lab=$1 out=$2 attempt=$3
shift 3
here=$(pwd)
${labOnNode}case $out in
  log:*) out=\${here%%/runtime_resources/*}/logs/\${out#log:} ;;
esac
mkdir -p "$out"
# A node that was lost held the run folder; Ray has said that its job is over.
if [ "$attempt" -gt 1 ] && [ -f "$out/run.lock" ] && ! grep -qF "\"$(uname -n)\"" "$out/run.lock"; then
  rm -f "$out/run.lock"
fi
run_lab train --config "$here/run.yaml" --out "$out" --emit - "$@"
`;

/** Settings as the command line takes them. */
export const pairs = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).map(([key, value]) => `${key}=${value}`);

/** The command of a job. The shell gives way to the script, so that nothing stands between a stop and the run. */
export function entrypoint(job: {
  engine?: "verl" | undefined;
  lab: string;
  out: string;
  attempt: number;
  settings: Readonly<Record<string, string>>;
}): string {
  if (job.engine === "verl") return `exec sh start.sh ${shellWord(job.out)}`;
  const words = [job.lab, job.out, String(job.attempt), ...pairs(job.settings)];
  return ["exec sh run.sh", ...words.map(shellWord)].join(" ");
}
