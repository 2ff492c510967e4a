import { existsSync } from "#platform/files";
import { isRoot } from "#platform/machine";
import { spawnSync } from "#platform/programs";
import { dirname } from "#platform/path";

/** What the sandbox's own programs are started with, and all of it that code there can see. */
export const sandboxEnv = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  TZ: "UTC",
  LANG: "C.UTF-8",
  PYTHONHASHSEED: "0",
};

/** Whom code runs as: nobody, whoever started it. */
export const nobody = 65534;

/** Bytes that files in the sandbox's `/tmp` may take together. */
export const scratchBytes = 64 * 2 ** 20;

const libraries = [
  "/lib",
  "/lib64",
  "/usr/lib",
  "/usr/lib64",
  "/usr/share/zoneinfo",
  "/etc/alternatives",
  "/etc/ld.so.cache",
];
const devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/** A bind with the folders above it, which bubblewrap would make for their owner alone. */
function show(bind: string, path: string): string[] {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) above.unshift(folder);
  return [...above.flatMap((folder) => ["--dir", folder]), bind, path, path];
}

/**
 * bubblewrap's arguments: every name space its own; no network, no /proc, no terminal; a root that
 * holds the shared libraries and `folders`, read-only; and a `/tmp` of limited size.
 *
 * A user becomes nobody by a user name space. Root needs none for the mounts, and none would help: its
 * own files would stay its own. It keeps the right to become nobody, which the server does first.
 */
export function bubblewrapArguments(folders: readonly string[]): string[] {
  const root = isRoot();
  const id = String(nobody);
  return [
    ...(root ? [] : ["--unshare-user", "--uid", id, "--gid", id]),
    ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--hostname", "sandbox"],
    ...["--cap-drop", "ALL"],
    ...(root ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] : []),
    ...libraries.flatMap((path) => show("--ro-bind-try", path)),
    ...devices.flatMap((path) => show("--dev-bind", path)),
    ...["--perms", "1777", "--size", String(scratchBytes), "--tmpfs", "/tmp"],
    ...folders.flatMap((path) => show("--ro-bind", path)),
    ...["--remount-ro", "/", "--chdir", "/tmp"],
  ];
}

/** Why bubblewrap cannot be used on this machine; undefined where it can. */
export function bubblewrapTrouble(): string | undefined {
  const programs = ["/usr/bin", "/bin"].filter((folder) => existsSync(folder));
  const { status, stderr, error } = spawnSync("bwrap", [...bubblewrapArguments(programs), "true"], {
    encoding: "utf8",
    timeout: 5000,
    env: sandboxEnv,
  });
  if (status === 0) return undefined;
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return "no bwrap";
  return error?.message ?? (stderr.trim().split("\n")[0] || `status ${status}`);
}
