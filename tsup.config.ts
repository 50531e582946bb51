import { cpSync, renameSync, writeFileSync } from "node:fs";
import { build, defineConfig, type Options } from "tsup";
import { buildId, buildVersion } from "./scripts/build-info.ts";

const [BUILD, VERSION] = [buildId(), buildVersion()];

const SHARED = {
  format: ["esm"],
  target: "node20",
  platform: "node",
  sourcemap: true,
  // Which packages are bundled, and which are loaded from beside: `scripts/package.ts` asks.
  metafile: true,
  dts: false,
  define: { KB_BUILD_ID: JSON.stringify(BUILD), KB_BUILD_VERSION: JSON.stringify(VERSION) },
  // Without comments: one of them with a letter beyond Latin-1, and V8 keeps the whole file as two bytes a letter.
  esbuildOptions: (options) => void Object.assign(options, { minifyWhitespace: true, lineLimit: 120 }),
} satisfies Options;

/** What `main.ts` loads when it knows the command, and the bridge only when a token ends: files of their own. */
const LEAVE_OUT: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "leave-out",
  setup({ onResolve }) {
    onResolve({ filter: /^[.#].*\/(mcp-entry|process|run|lock|refresh)\.ts$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: path.replace(/^.*\/(.*)\.ts$/, "./$1.js"), external: true } : undefined,
    );
  },
};

/**
 * ESM bundles with code splitting: the CLI loads a command's chunk only when it runs (bundling is worth 5× at start).
 * Worker threads and child processes need files of their own: one entry each, found by `src/core/spawn.ts`.
 * The program's first file and the bridge are one file each, because hosts wait for the bridge's start and splitting
 * gives a file to every module that it shares with another command.
 */
export default defineConfig({
  ...SHARED,
  entry: {
    process: "src/cli/start/process.ts",
    run: "src/cli/start/run.ts",
    refresh: "src/cli/login/refresh.ts",
    lock: "src/cli/host/lock.ts",
    "keychain-child": "src/cli/host/keychain-child.ts",
    writer: "src/storage/writer/thread.ts",
    searcher: "src/storage/index/read/searcher-thread.ts",
    counter: "src/server/mcp/counter-thread.ts",
    extractor: "src/extract/child.ts",
  },
  splitting: true,
  clean: true,
  // What every start loads is bundled, with what the command line needs: resolving and reading a package's many files took
  // 0.7 of the 1.95 seconds of processor time until `kb serve` listens. Native packages and those loaded later stay outside.
  noExternal: [
    "@asteasolutions/zod-to-openapi",
    "@clack/prompts",
    /^@hono\//,
    "commander",
    "gpt-tokenizer",
    /^hono($|\/)/,
    "ipaddr.js",
    "kysely",
    "lru-cache",
    "openapi3-ts",
    "picocolors",
    "yaml",
    "zod",
  ],
  // Bundled CommonJS packages call require(): give the ESM chunks one.
  banner: {
    js: 'import { createRequire as __kbCreateRequire } from "node:module"; const require = __kbCreateRequire(import.meta.url);',
  },
  onSuccess: async () => {
    renameSync("dist/metafile-esm.json", "dist/metafile-shared.json");
    // Beside the extraction child, which may read its own folder. Source: docs/decisions/0063.
    cpSync("node_modules/pdfjs-dist/cmaps", "dist/cmaps", { recursive: true });
    await build({
      ...SHARED,
      config: false,
      silent: true,
      entry: { cli: "src/cli/main.ts", "mcp-entry": "src/cli/start/mcp-entry.ts" },
      splitting: false,
      esbuildPlugins: [LEAVE_OUT],
    });
    renameSync("dist/metafile-esm.json", "dist/metafile-cli.json");
    // Last: a build without it is not complete.
    writeFileSync("dist/build.json", `${JSON.stringify({ build: BUILD, version: VERSION })}\n`);
  },
});
