/** What the built program loads before it does something: run `npm run build` first. */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { test } from "vitest";
import { tempDir } from "../helpers.ts";

const CLI = new URL("../../dist/cli.js", import.meta.url).pathname;
/** Prints what of Node itself was loaded. */
const HOOK =
  "data:text/javascript,process.on('exit',()=>process.stderr.write('LOADED '+process.moduleLoadList.join(' ')))";

test("a call to the server loads neither fetch nor WebAssembly", async ({ expect }) => {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "application/json").end('{"tokens":[],"mcpUrl":""}'),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    // A listening TCP server's address is an object.
    const { port } = server.address() as AddressInfo;
    const env = {
      PATH: process.env["PATH"],
      HOME: tempDir(),
      KB_URL: `http://127.0.0.1:${port}`,
      KB_TOKEN: "kb_pat_start",
    };
    const { stderr } = await promisify(execFile)(process.execPath, ["--import", HOOK, CLI, "tokens", "list"], { env });
    expect(stderr).toContain("You have no active token");
    expect(stderr).toContain("NativeModule http");
    expect(stderr).not.toMatch(/undici|internal\/wasm/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
