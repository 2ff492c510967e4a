// glibc's malloc has an arena for each thread, of which a kernel has some ten: with one for all of them it needs 8 MB
// less. glibc reads that from the environment, before anything runs; what cells start is to have what was there before.

/** The environment that a kernel is started with. A front end fills in what stands in braces, where there is such. */
export const oneArena: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "1",
  ARPO_LAB_ARENAS_BEFORE: "${MALLOC_ARENA_MAX}",
};

/** Takes it away again. */
export function restoreArenas(env: NodeJS.ProcessEnv): void {
  const before = env["ARPO_LAB_ARENAS_BEFORE"];
  if (before === undefined) return;
  delete env["ARPO_LAB_ARENAS_BEFORE"];
  if (/^\d+$/.test(before)) env["MALLOC_ARENA_MAX"] = before;
  else delete env["MALLOC_ARENA_MAX"];
}
