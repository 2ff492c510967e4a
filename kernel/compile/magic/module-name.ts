const lineComment = /\s*\/\/.*/y;

/** The name that a cell gives itself as a module: `@module name` in the documentation at its beginning. */
export function moduleName(source: string): string | undefined {
  let at = 0;
  for (lineComment.lastIndex = 0; lineComment.test(source);) at = lineComment.lastIndex;
  const rest = source.slice(at).trimStart();
  const end = rest.startsWith("/**") ? rest.indexOf("*/", 3) : -1;
  if (end < 0) return undefined;
  return /^[ \t*/]*@module[ \t]+([\w-]+(?:\/[\w-]+)*)[ \t\r*/]*$/m.exec(rest.slice(0, end))?.[1];
}
