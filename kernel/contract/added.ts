// What the compiler adds to the text of a cell: checks for interrupts, and ways to the variables of other
// cells. All of it bears a mark that no cell's own text may have. So it can be told from what a person
// wrote, and taken out again where a program reads a function's text.

/** No cell and no module may have this in its text. */
export const mark = "$lab\u00b7";

/** What a name of another cell, of an import or of the kernel is called in compiled code. */
export const outer = (name: string): string => mark + name;

/** A variable of the compiled code's own: no name of a person's begins with a point. */
const own = (name: string): string => `${mark}\u00b7${name}`;

export const names = {
  /** The argument of the function that a cell becomes. */
  scope: own("scope"),
  /** What `scope.enter` gives. */
  cell: own("cell"),
  tick: own("tick"),
  value: own("value"),
  start: own("start"),
  module: (count: number): string => own(String(count)),
} as const;

const comment = `/*${mark}*/`;

/** Where brackets or a `;` come with it, these are marked as well; TypeScript leaves such marks out. */
export const added = {
  tick: `${names.tick}();`,
  tickAfterDirective: `${comment};${names.tick}();`,
  openBlock: `${comment}{ ${names.tick}(); `,
  closeBlock: `${comment}}`,
  openExpression: `${comment}(${names.tick}(), `,
  closeExpression: `${comment})`,
  /** Gives a function the name of a variable that is a property here. */
  openNamed: (name: string): string => `${comment}({ [${JSON.stringify(name)}]: `,
  closeNamed: (name: string): string => `${comment}})[${JSON.stringify(name)}]`,
  /** `{ x }` as `{ x: … }`. */
  shorthand: (target: string): string => `${comment}: ${target}`,
  /** `(0, a.b)(…)`: a plain call, whose `this` is not the module or the session. */
  callee: (target: string): string => `(0, ${target})`,
} as const;

const quoted = (text: string): string => text.replace(/[$*/(){}[\]]/g, "\\$&");
const tick = quoted(`${names.tick}()`);
const access = String.raw`(?:\.[\p{ID_Continue}$]+|\["(?:[^"\\]|\\.)*"\])`;
const reference = String.raw`${quoted(mark)}(NAME)${access}`;
const named = (group: string): string =>
  reference.replace("NAME", String.raw`?<${group}>[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`);

const everything = new RegExp(
  [
    String.raw`${quoted(comment)}(?:\(${tick}, |\{ ${tick}; |;${tick};|\(\{ \["[^"]*"\]: |\}\)\["[^"]*"\]|: ${named("short")}|[)}])`,
    String.raw`(?:\n[ \t]*)?${tick};`,
    `${tick}, `,
    String.raw`(?<meta>${quoted(outer("import"))}\.meta)`,
    // V8 writes `(0 , f)` where it says what is no function.
    String.raw`\(0 ?, ${named("called")}\)`,
    named("plain"),
  ].join("|"),
  "gu",
);

/** A text of compiled code as it was written; types, which are no JavaScript, stay out of it. */
export function asWritten(text: string): string {
  if (!text.includes(mark)) return text;
  return text.replace(everything, (...found) => {
    const { meta, called, plain } = found.at(-1) as Record<string, string | undefined>;
    return meta === undefined ? (called ?? plain ?? "") : "import.meta";
  });
}
