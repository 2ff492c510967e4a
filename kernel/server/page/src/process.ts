/**
 * What modules written for Node find as `process`. Without its `cwd` no relative path could be resolved:
 * links and pictures in Markdown and outputs led nowhere.
 */
export const process = {
  env: { NODE_ENV: "production" },
  platform: "browser",
  browser: true,
  argv: [],
  version: "",
  versions: {},
  cwd: (): string => "/",
  nextTick: (then: (...args: unknown[]) => void, ...args: unknown[]): void =>
    queueMicrotask(() => then(...args)),
};
