// What an interpreter in WebAssembly may ask of JavaScript between two calls. Its memory and its files are put back;
// what else JavaScript remembers is not (names that were looked up, pipes, sockets, timers). So every import counts
// as remembering, but for those below.

/** Imports whose effects are on memory and files, which are put back, or none. */
const forgotten: ReadonlySet<PropertyKey> = new Set(
  (
    "environ_get environ_sizes_get fd_close fd_fdstat_get fd_pread fd_pwrite fd_read fd_seek fd_sync fd_write " +
    "clock_res_get clock_time_get random_get emscripten_date_now emscripten_get_now emscripten_get_heap_max " +
    "emscripten_resize_heap _emscripten_get_progname _tzset_js _timegm_js _mktime_js _localtime_js _gmtime_js " +
    "__syscall_openat __syscall_fcntl64 __syscall_ioctl __syscall_faccessat __syscall_chdir __syscall_fchdir " +
    "__syscall_chmod __syscall_fchmod __syscall_fchmodat2 __syscall_fchown32 __syscall_fchownat __syscall_dup " +
    "__syscall_dup3 __syscall_fdatasync __syscall_fstat64 __syscall_stat64 __syscall_newfstatat __syscall_lstat64 " +
    "__syscall_ftruncate64 __syscall_truncate64 __syscall_getcwd __syscall_getdents64 __syscall_mkdirat " +
    "__syscall_mknodat __syscall_readlinkat __syscall_unlinkat __syscall_rmdir __syscall_renameat " +
    "__syscall_statfs64 __syscall_fstatfs64 __syscall_symlinkat __syscall_utimensat __syscall_fadvise64 " +
    "__syscall_fallocate __syscall_poll _try_fcntl64 _maybe_poll_async __syscall_umask_js __syscall_getuid32_js __call_sighandler"
  ).split(" "),
);

/** Watches the imports of what is instantiated from here on. */
export function watchCalls(): {
  /** What is called until `watch` is what every call needs to begin and to end. */
  learn(): void;
  watch(): void;
  /** The first import since `watch` whose effects stay; undefined where there was none. */
  remembering(): PropertyKey | undefined;
} {
  const usual = new Set<PropertyKey>();
  let state: "off" | "learning" | "watching" = "off";
  let found: PropertyKey | undefined;
  const called = (name: PropertyKey): void => {
    if (state === "learning") usual.add(name);
    else if (state === "watching" && !usual.has(name)) found ??= name;
  };
  const watched = (imports: Record<PropertyKey, unknown>) =>
    new Proxy(imports, {
      get(from, name) {
        const value = from[name];
        if (typeof value !== "function" || forgotten.has(name)) return value;
        const act = value as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => {
          called(name);
          return act(...given);
        };
      },
    });
  const tools = WebAssembly as {
    instantiate: (code: unknown, imports?: WebAssembly.Imports) => unknown;
  };
  const instantiate = tools.instantiate;
  tools.instantiate = (code, imports = {}) => {
    const { env, wasi_snapshot_preview1: system } = imports as Record<
      string,
      Record<string, unknown>
    >;
    if (!env || !system) return instantiate(code, imports);
    const through = { ...imports, env: watched(env), wasi_snapshot_preview1: watched(system) };
    return instantiate(code, through as WebAssembly.Imports);
  };
  return {
    learn: () => void (state = "learning"),
    watch: () => void ((state = "watching"), (found = undefined)),
    remembering: () => found,
  };
}
