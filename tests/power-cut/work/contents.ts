// Saves, renames, copies and deletes through the contents server; every answer acknowledges what is there then.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Contents } from "../../../kernel/server/contents/contents.js";
import { acknowledge, folder } from "./acknowledge.js";

const contents = new Contents(folder);
const text = (content: string) => ({ type: "file", format: "text", content }) as const;
const cell = (source: string) => ({
  cell_type: "code",
  source,
  metadata: {},
  outputs: [],
  execution_count: null,
});
const notebook = (source: string) => ({
  type: "notebook",
  content: { cells: [cell(source)], metadata: {}, nbformat: 4, nbformat_minor: 4 },
});

/** Names with what is in them, but those of the server's own locks. */
function seen(): Record<string, string | null> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Object.fromEntries(
    names
      .filter((name) => !/(^|\/)\.(?!ipynb_checkpoints)/.test(name))
      .map((name) => {
        const path = join(folder, name);
        return [name, lstatSync(path).isDirectory() ? null : readFileSync(path, "utf8")];
      }),
  );
}
const done = async (change: Promise<unknown>) => {
  await change;
  acknowledge(seen());
};

await done(contents.save("a.ipynb", notebook("1")));
await done(contents.checkpoints.create("a.ipynb"));
await done(contents.save("a.ipynb", notebook("2")));
await done(contents.save("folder", { type: "directory" }));
await done(contents.save("folder/b.txt", text("one")));
await done(contents.save("folder/b.txt", text("two")));
await done(contents.copy("folder/b.txt", ""));
await done(contents.rename("a.ipynb", "folder/a.ipynb"));
await done(contents.checkpoints.restore("folder/a.ipynb", "checkpoint"));
await done(contents.create("folder", "notebook"));
await done(contents.save("long.txt", { ...text("first "), chunk: 1 }));
await done(contents.save("long.txt", { ...text("last"), chunk: -1 }));
await done(contents.delete("b.txt"));
await done(contents.delete("folder/Untitled.ipynb"));
