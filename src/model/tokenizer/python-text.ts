// What Python's str() gives: templates write tools so, and models were trained on it.

/** A value of the template's language. */
interface TemplateValue {
  readonly type: string;
  readonly value: unknown;
}

const mostDepth = 100;
const escapes: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\\": "\\\\",
};

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replace(/[\u0000-\u001f\u007f-\u00a0\u00ad\\]/g, (letter) => {
    const code = letter.charCodeAt(0).toString(16).padStart(2, "0");
    return escapes[letter] ?? `\\x${code}`;
  });
  return `${quote}${quote === "'" ? inside.replaceAll("'", "\\'") : inside}${quote}`;
}

/**
 * A mapping or a list as Python writes it; undefined for what is neither.
 *
 * @throws RangeError where it is longer than `most` characters or nested deeper than 100 times
 */
export function pythonText(given: TemplateValue, most: number): string | undefined {
  let left = most;
  const write = ({ type, value }: TemplateValue, depth: number): string => {
    if (depth > mostDepth || left < 0) {
      throw new RangeError(`a template may write at most ${most} characters, nested 100 times`);
    }
    let text: string;
    if (type === "ObjectValue") {
      const entries = [...(value as Map<string, TemplateValue>)];
      text = `{${entries.map(([key, item]) => `${quoted(key)}: ${write(item, depth + 1)}`).join(", ")}}`;
    } else if (type === "ArrayValue") {
      text = `[${(value as TemplateValue[]).map((item) => write(item, depth + 1)).join(", ")}]`;
    } else if (typeof value === "string") text = quoted(value);
    else if (typeof value === "boolean") text = value ? "True" : "False";
    else text = value === null || value === undefined ? "None" : String(value as number);
    left -= text.length;
    return text;
  };
  if (given.type !== "ObjectValue" && given.type !== "ArrayValue") return undefined;
  return write(given, 0);
}
