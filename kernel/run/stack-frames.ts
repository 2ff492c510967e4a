export interface StackFrame {
  /** Of the function, as the engine has it; empty where it has none. */
  name: string;
  file: string;
  row: number;
  column: number;
}

// V8's frames stand below the message; those of SpiderMonkey and JavaScriptCore are all there is.
const v8 = /^\s+at (?:(.*?) \(|async )?([^()]*?):(\d+):(\d+)\)?$/;
const others = /^(?!\s)(?:([^@]*)@)(.*?):(\d+):(\d+)$/;
/** How JavaScriptCore and SpiderMonkey call what is no function, and mark what has been waited for. */
const noName = /^(eval|module|global) code$|^async\*|\/?<$/g;

/** The frames of an error's stack, innermost first. */
export function stackFrames(stack: string): StackFrame[] {
  const lines = stack.split("\n");
  const form = lines.some((line) => v8.test(line)) ? v8 : others;
  return lines.flatMap((line) => {
    const match = form.exec(line);
    if (match === null) return [];
    const [, given = "", file = "", row = "1", column = "1"] = match;
    const name = form === v8 ? given : given.replace(noName, "");
    return [{ name, file, row: Number(row), column: Number(column) }];
  });
}
