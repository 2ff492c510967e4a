const words = {
  EBADF: "bad file descriptor",
  EEXIST: "file already exists",
  EINVAL: "invalid argument",
  EISDIR: "illegal operation on a directory",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
};

/** An error as Node's files throw it: callers look at its code, people at its message. */
export function fault(code: keyof typeof words, call: string, path?: string, to?: string): Error {
  const place = path === undefined ? "" : ` '${path}'${to === undefined ? "" : ` -> '${to}'`}`;
  const error = new Error(`${code}: ${words[code]}, ${call}${place}`);
  return Object.assign(error, { code, syscall: call, ...(path !== undefined && { path }) });
}
