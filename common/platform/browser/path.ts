// POSIX paths, as the files of a tab have them: every path begins at `/`, and where one is can be told.
import type * as node from "../node/path.js";
import { here } from "./in-use.js";

export const sep: typeof node.sep = "/";

/** The steps of a path without `.`, `..` and empty ones; those above the start are kept where asked. */
function steps(path: string, absolute: boolean): string[] {
  const taken: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") taken.push(step);
    else if (taken.length > 0 && taken.at(-1) !== "..") taken.pop();
    else if (!absolute) taken.push("..");
  }
  return taken;
}

export const isAbsolute: typeof node.isAbsolute = (path) => path.startsWith("/");

export const join: typeof node.join = (...parts) => {
  const whole = parts.filter((part) => part !== "").join("/");
  if (whole === "") return ".";
  const absolute = isAbsolute(whole);
  const body = steps(whole, absolute).join("/");
  const closed = whole.endsWith("/") && body !== "" ? `${body}/` : body;
  if (absolute) return `/${closed}`;
  return closed || (whole.endsWith("/") ? "./" : ".");
};

export const resolve: typeof node.resolve = (...parts) => {
  const from = parts.findLastIndex((part) => isAbsolute(part));
  const taken = from < 0 ? [here.folder, ...parts] : parts.slice(from);
  return `/${steps(taken.join("/"), true).join("/")}`;
};

/** A path without what closes it, and where its last step begins. */
function lastStep(path: string): [path: string, start: number] {
  const open = path.replace(/\/+$/, "");
  return [open, open.lastIndexOf("/") + 1];
}

export const basename: typeof node.basename = (path, suffix = "") => {
  const [open, start] = lastStep(path);
  const name = open.slice(start);
  return suffix !== "" && name !== suffix && name.endsWith(suffix)
    ? name.slice(0, -suffix.length)
    : name;
};

export const dirname: typeof node.dirname = (path) => {
  const [open, start] = lastStep(path);
  if (start === 0) return open === "" && path !== "" ? "/" : ".";
  return open.slice(0, start - 1) || "/";
};

export const extname: typeof node.extname = (path) => {
  const name = basename(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 && !/^\.+$/.test(name) ? name.slice(dot) : name === ".." || dot <= 0 ? "" : ".";
};

export const relative: typeof node.relative = (from, to) => {
  const [start, end] = [steps(resolve(from), true), steps(resolve(to), true)];
  let shared = 0;
  while (shared < Math.min(start.length, end.length) && start[shared] === end[shared]) shared++;
  return [...start.slice(shared).map(() => ".."), ...end.slice(shared)].join("/");
};
