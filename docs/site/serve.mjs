// Shows the built documentation on this machine.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain; charset=utf-8",
};

/** Serves a folder on loopback and prints its address; the port is any free one unless given. */
export function serve(folder, port = 0) {
  const server = createServer((request, response) => {
    try {
      const path = normalize(decodeURIComponent(new URL(request.url, "http://docs").pathname));
      let file = join(folder, path); // normalized from its root: no name leads above it
      if (statSync(file).isDirectory()) file = join(file, "index.html");
      const { size } = statSync(file);
      response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
      response.setHeader("content-length", size);
      createReadStream(file).pipe(response);
    } catch {
      response.writeHead(404).end("No such page.");
    }
  });
  server.listen(port, "127.0.0.1", () =>
    console.log(`The documentation: http://127.0.0.1:${server.address().port}/  Ctrl-C ends it.`),
  );
  return server;
}
