/** What the built program loads before it does something: run `npm run build` first. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import { tempDir } from "../temp-dir.ts";

/** The build in this folder: its maps tell which source each function is of, and the package has none. */
const CLI = new URL("../../dist/cli.js", import.meta.url).pathname;

/** Prints what of Node itself was loaded. */
const HOOK =
  "data:text/javascript,process.on('exit',()=>process.stderr.write('LOADED '+process.moduleLoadList.join(' ')))";

/** The files of `src` that a run of the built program loads: V8's coverage of its scripts, read by their source maps. */
async function loadedBy(argv: readonly string[], env: Record<string, string | undefined>): Promise<string[]> {
  const folder = tempDir();
  await promisify(execFile)(process.execPath, [CLI, ...argv], { env: { ...env, NODE_V8_COVERAGE: folder } });
  const files = readdirSync(folder).flatMap((name) => {
    // Written by Node.
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { result: { url: string }[] };
    return result.flatMap(({ url }) => (url.startsWith("file:") ? sourcesOf(fileURLToPath(url)) : []));
  });
  return [...new Set(files)].toSorted();
}

function sourcesOf(script: string): string[] {
  if (!existsSync(`${script}.map`)) return [];
  // Written by the build.
  const { sources } = JSON.parse(readFileSync(`${script}.map`, "utf8")) as { sources: string[] };
  return sources.flatMap((source) => (source.startsWith("../src/") ? [source.slice("../src/".length)] : []));
}

const noNetwork = () => ({
  PATH: process.env["PATH"],
  HOME: tempDir(),
  KB_URL: "http://127.0.0.1:9",
  KB_TOKEN: "kb_pat_start",
});

test.for([[["--help"]], [["help", "exit-codes"]]])("kb %j loads no noun", async ([argv = []], { expect }) => {
  const files = await loadedBy(argv, noNetwork());
  expect(files.filter((file) => file.startsWith("cli/commands/"))).toEqual([]);
});

test("a call to the server loads its own noun, and neither another one, the table of all, fetch nor WebAssembly", async ({
  expect,
}) => {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "application/json").end('{"tokens":[],"mcpUrl":""}'),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    // A listening TCP server's address is an object.
    const { port } = server.address() as AddressInfo;
    const env = { ...noNetwork(), KB_URL: `http://127.0.0.1:${port}` };
    const { stderr } = await promisify(execFile)(process.execPath, ["--import", HOOK, CLI, "tokens", "list"], { env });
    expect(stderr).toContain("You have no active token");
    expect(stderr).toContain("NativeModule http");
    expect(stderr).not.toMatch(/undici|internal\/wasm/);
    const files = await loadedBy(["tokens", "list"], env);
    expect(files.filter((file) => file.startsWith("cli/commands/"))).toEqual(["cli/commands/tokens.ts"]);
    expect(files).not.toContain("cli/generated/table.ts");
    expect(files.length).toBeLessThanOrEqual(45);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
