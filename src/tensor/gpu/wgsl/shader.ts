/** What a shader reads and writes, and its numbers, as declarations. */
interface Declared {
  /** Names of float arrays that are only read; `ids:i32` says another type. */
  reads: readonly string[];
  writes: readonly string[];
  whole: readonly string[];
  fractions?: readonly string[];
}

/** The declarations: reads, then writes, then the numbers as `p`, filling the 256 bytes of a slot. */
export function declare({ reads, writes, whole, fractions = [] }: Declared): string {
  const array = (given: string, access: string, binding: number) => {
    const [name, type = "f32"] = given.split(":");
    return `@group(0) @binding(${binding}) var<storage, ${access}> ${name}: array<${type}>;`;
  };
  const fields = [
    ...whole.map((name) => `${name}: u32`),
    ...fractions.map((name) => `${name}: f32`),
  ];
  return [
    ...reads.map((name, i) => array(name, "read", i)),
    ...writes.map((name, i) => array(name, "read_write", reads.length + i)),
    `struct Numbers { ${fields.join(", ")} }`,
    `@group(0) @binding(${reads.length + writes.length}) var<uniform> p: Numbers;`,
  ].join("\n");
}

/** The head of a shader over groups of `size` in one line, long ones being folded (`group`). */
export function entry(size: number, body: string): string {
  return `@compute @workgroup_size(${size})
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) many: vec3u,
        @builtin(local_invocation_index) lid: u32) {
  let group = wg.x + wg.y * many.x;
${body}
}`;
}

/** Text repeated for 0 to count - 1, since shaders keep only constant places in registers. */
export function times(count: number, text: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => text(i)).join("\n");
}
