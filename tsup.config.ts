import { defineConfig } from "tsup";

/**
 * ESM bundles with code splitting: the CLI loads a command's chunk only when it runs (bundling is worth 5× at start).
 * Worker threads and child processes need files of their own: one entry each, found by `src/server/adapters/spawn.ts`.
 */
export default defineConfig({
  entry: {
    cli: "src/cli/main.ts",
    writer: "src/server/adapters/sql/writer/thread.ts",
    searcher: "src/server/adapters/index-embedded/searcher-thread.ts",
    extractor: "src/server/extract/child.ts",
  },
  format: ["esm"],
  target: "node20",
  platform: "node",
  splitting: true,
  sourcemap: true,
  clean: true,
  dts: false,
  // The CLI's own dependencies are bundled (start-up time); native packages and the big server libraries stay outside.
  noExternal: ["commander", "picocolors", "@clack/prompts"],
  // Bundled CommonJS packages call require(): give the ESM chunks one.
  banner: {
    js: 'import { createRequire as __kbCreateRequire } from "node:module"; const require = __kbCreateRequire(import.meta.url);',
  },
});
