import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where `npm run dev` listens. */
const SERVER = "http://127.0.0.1:7700";

const OUT = new URL("dist/web", import.meta.url).pathname;

const APP = new URL("src/server/web/app", import.meta.url).pathname;

/** Around the pages of a signed-in person; no page itself. */
const SHELL = "shell/shell.tsx";

/**
 * Writes which files each page needs beside those that `index.html` names, by the page's address in the router. The
 * server names them in the headers of the document, so that the browser asks for all of them at once instead of finding
 * one after the other.
 */
function listPreloads(): Plugin {
  return {
    name: "kb-preloads",
    apply: "build",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
      const withImports = (name: string, seen = new Set<string>()): Set<string> => {
        if (seen.has(name)) return seen;
        seen.add(name);
        for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) withImports(next, seen);
        return seen;
      };
      const first = new Set(
        chunks.filter(({ isEntry }) => isEntry).flatMap(({ fileName }) => [...withImports(fileName)]),
      );
      const filesOf = (source: string) => {
        const chunk = chunks.find(({ facadeModuleId: id }) => typeof id === "string" && relative(APP, id) === source);
        if (chunk === undefined) throw new Error(`${source} is no chunk of its own, so its page can't be preloaded.`);
        return [...withImports(chunk.fileName)].filter((name) => !first.has(name));
      };
      const router = readFileSync(join(APP, "router.tsx"), "utf8");
      const [entry = "", shell = ""] = router.split("const SHELL_PAGES");
      const pagesIn = (text: string) => [...text.matchAll(/"(\/[^"]+)": \(\) => import\("\.\/(pages\/[^"]+)"\)/g)];
      const listed = new Set(pagesIn(router).map(([, , source]) => source));
      const loaded = this.getModuleInfo(join(APP, "router.tsx"))?.dynamicallyImportedIds ?? [];
      const missed = loaded.map((id) => relative(APP, id)).filter((id) => id !== SHELL && !listed.has(id));
      if (loaded.length === 0 || missed.length > 0) {
        throw new Error(`router.tsx loads pages that are not read out of it for preloads.json: ${missed.join(", ")}`);
      }
      const preloads = [
        ...pagesIn(entry).map(([, path, source]) => [path, filesOf(source ?? "")]),
        ...pagesIn(shell).map(([, path, source]) => [
          path,
          [...new Set([...filesOf(SHELL), ...filesOf(source ?? "")])],
        ]),
      ];
      this.emitFile({ type: "asset", fileName: "preloads.json", source: JSON.stringify(Object.fromEntries(preloads)) });
    },
  };
}

/** Writes which packages the page is made of, for the notices of the package. */
function listPackages(): Plugin {
  return {
    name: "kb-packages",
    apply: "build",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) =>
        output.type === "chunk" ? Object.keys(output.modules) : [],
      );
      const names = modules.flatMap((id) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
      writeFileSync(join(OUT, "..", "metafile-web.json"), JSON.stringify([...new Set(names)].toSorted()));
    },
  };
}

/** Compresses what the build wrote, once, so that the server never does; prints what a first visit loads. */
function compress(): Plugin {
  return {
    name: "kb-compress",
    apply: "build",
    writeBundle() {
      const files = readdirSync(OUT, { recursive: true, encoding: "utf8" }).filter((f) =>
        /\.(js|css|html|svg)$/.test(f),
      );
      const gzipped = new Map<string, number>();
      for (const file of files) {
        const bytes = readFileSync(join(OUT, file));
        const gzip = gzipSync(bytes, { level: 9 });
        gzipped.set(file, gzip.length);
        writeFileSync(join(OUT, `${file}.gz`), gzip);
        writeFileSync(
          join(OUT, `${file}.br`),
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
        );
      }
      const first = [
        ...readFileSync(join(OUT, "index.html"), "utf8").matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g),
      ];
      const bytes = first.reduce((sum, [, file]) => sum + (gzipped.get(file ?? "") ?? 0), 0);
      process.stdout.write(`web page: a first visit loads ${(bytes / 1000).toFixed(1)} kB (gzip, JS and CSS)\n`);
    },
  };
}

const BASE = /node_modules[\\/](?:react|react-dom|scheduler|@tanstack|use-sync-external-store)[\\/]/;

/** The page: `src/server/web/app` → `dist/web`, which `kb serve` serves. tsup cleans `dist`, so it is built after it. */
export default defineConfig({
  root: APP,
  plugins: [react(), tailwindcss(), listPreloads(), listPackages(), compress()],
  logLevel: "warn",
  build: {
    outDir: OUT,
    emptyOutDir: true,
    // Everything under `assets` carries a hash of its content and is kept for ever; nothing is inlined, for the CSP.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Every visit loads these: one file of them is 1.3 kB smaller (gzip) than the files into which they are split otherwise.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "base", test: BASE }] } } },
  },
  // `npx vite` for work on the page: the routes come from a running `kb serve`.
  server: {
    proxy: {
      "^/(api/|mcp$|\\.well-known/|oauth/(authorize|consent/[^/]+/|device/))": {
        target: SERVER,
        // It takes unsafe requests from pages of its own address only.
        headers: { origin: SERVER },
      },
    },
  },
});
