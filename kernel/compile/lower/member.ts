/** `a` or `["a b"]`, to stand after an object. */
export function member(object: string, name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
    ? `${object}.${name}`
    : `${object}[${JSON.stringify(name)}]`;
}
