/** The properties that have a value. For objects where an absent key and an undefined one differ. */
export function defined<T extends object>(
  properties: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== undefined),
  ) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
