import { shapeSize } from "../transformer/weights.js";

/** One tensor's entry in a safetensors header; offsets count from the end of the header. */
export interface TensorEntry {
  dtype: string;
  shape: number[];
  start: number;
  end: number;
}

const bytesOf: Record<string, number> = {
  ...{ BOOL: 1, U8: 1, I8: 1, F8_E4M3: 1, F8_E5M2: 1 },
  ...{ U16: 2, I16: 2, F16: 2, BF16: 2, U32: 4, I32: 4, F32: 4, U64: 8, I64: 8, F64: 8 },
};

/** Checks a header against the format's rules, which leave no byte unexplained and none shared. */
export function parseSafetensorsHeader(path: string, text: string, dataBytes: number) {
  const refuse = (rule: string, got: unknown): never => {
    throw new SyntaxError(
      `Cannot read safetensors ${path}: ${rule}, got ${JSON.stringify(got)?.slice(0, 200)}`,
    );
  };
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    refuse("the header must be JSON", text.slice(0, 40));
  }
  if (header === null || typeof header !== "object" || Array.isArray(header)) {
    return refuse("the header must be an object", header);
  }
  const { __metadata__: metadata = {}, ...entries } = header as Record<string, unknown>;
  const tensors = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(entries)) {
    const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
    const natural = (n: unknown) => Number.isSafeInteger(n) && (n as number) >= 0;
    if (typeof dtype !== "string" || !(dtype in bytesOf)) {
      refuse(`the dtype of ${name} must be a known one`, dtype);
    }
    if (!Array.isArray(shape) || !shape.every(natural)) {
      refuse(`the shape of ${name} must be a list of sizes`, shape);
    }
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(natural)) {
      return refuse(`data_offsets of ${name} must be two positions`, offsets);
    }
    const [start, end] = offsets as [number, number];
    const bytes = shapeSize(shape as number[]) * bytesOf[dtype as string]!;
    if (end - start !== bytes) {
      refuse(`${name} must have ${bytes} bytes for its shape and dtype`, end - start);
    }
    tensors.set(name, { dtype: dtype as string, shape: shape as number[], start, end });
  }
  let position = 0;
  const inOrder = [...tensors].sort(([, a], [, b]) => a.start - b.start || a.end - b.end);
  for (const [name, { start, end }] of inOrder) {
    const relation = start < position ? "overlap" : "leave a gap after";
    if (start !== position) refuse(`${name} must not ${relation} the tensor before it`, start);
    position = end;
  }
  if (position !== dataBytes) {
    refuse(`the file must hold ${position} bytes of tensors (it may be truncated)`, dataBytes);
  }
  return { tensors, metadata: metadata as Record<string, string> };
}
