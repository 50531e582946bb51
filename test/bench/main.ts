/**
 * `npm run bench`: the benchmarks in one run, as ratios against a peer of the same run. Machines are shared and noisy:
 * quote ratios, and say what else ran.
 *
 *   npm run bench                                     all, search at 100,000 items; with cargo also against Tantivy
 *   npm run bench -- --only search --items 1000000     --keep PATH: keep the databases, or take those that are there
 *   KB_BENCH_CRANFIELD=<folder> npm run bench -- --only relevance
 *   npm run bench -- --only loop --files 5000          or --folder PATH: a folder of your own instead of made files
 *   npm run bench -- --only bulk --items 100000 --seconds 60 --rate 200
 *   npm run bench -- --only serve --files 100000        --rate 200 --seconds 30; --keep PATH: keep the data, or take what is there
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { findSpawnEntry } from "#core/spawn.ts";
import { benchAccess } from "./access.ts";
import { benchBulk } from "./bulk.ts";
import { benchCall } from "./call.ts";
import { benchCli } from "./cli.ts";
import { benchExtract } from "./extract.ts";
import { benchLoop } from "./loop.ts";
import { benchRelevance } from "./relevance/relevance.ts";
import { benchSearch } from "./search.ts";
import { benchServe } from "./serve.ts";
import { benchSync } from "./sync.ts";

const PARTS = ["cli", "extract", "search", "relevance", "access", "sync", "loop", "call", "serve", "bulk"] as const;

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      items: { type: "string", default: "100000" },
      threads: { type: "string", default: "2" },
      files: { type: "string", default: "20000" },
      folder: { type: "string" },
      keep: { type: "string" },
      rate: { type: "string", multiple: true, default: ["100", "200", "300"] },
      seconds: { type: "string", default: "30" },
    },
  });
  const isWanted = (part: (typeof PARTS)[number]) => values.only === undefined || values.only.includes(part);
  const textFolder = process.env["KB_BENCH_TEXT"] ?? "node_modules";
  const folder = values.folder === undefined ? {} : { folder: values.folder };
  const load = loadavg().map((value) => value.toFixed(2));
  print(
    `Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), load ${load.join(" ")}`,
  );
  if (isWanted("cli")) {
    print("\ncommand line and bridge");
    for (const { name, value, unit, ratio } of await benchCli()) {
      print(`  ${name}: ${value.toFixed(2)} ${unit}${ratio === undefined ? "" : `, ${ratio.toFixed(2)}x`}`);
    }
  }
  if (isWanted("extract")) {
    print("\nextraction, two children");
    const rows = await benchExtract({ childPath: findSpawnEntry("extractor"), folders: [textFolder] });
    for (const row of rows) print(`  ${JSON.stringify(row)}`);
  }
  if (isWanted("search")) {
    print("\nsearch against native Tantivy and SQLite FTS5");
    await benchSearch({
      items: Number(values.items),
      textFolder,
      threads: Number(values.threads),
      hasFts: true,
      hasTantivy: true,
      ...(values.keep !== undefined && { keep: values.keep }),
      report: (name, value) => print(`  ${name}: ${JSON.stringify(value)}`),
    });
  }
  const cranfield = process.env["KB_BENCH_CRANFIELD"];
  if (isWanted("relevance")) {
    print("\nrelevance");
    benchRelevance(cranfield, (name, value) => print(`  ${name}: ${JSON.stringify(value)}`));
  }
  if (isWanted("access")) {
    print("\npermissions at the size of a large company");
    const report = (name: string, value: unknown) => print(`  ${name}: ${JSON.stringify(value)}`);
    await benchAccess({ groups: 11_000, membersPerGroup: 100, accesses: 200_000, files: 5_000, report });
  }
  if (isWanted("sync")) {
    print("\nwhole filesystem sync by the built program");
    print(`  ${JSON.stringify(await benchSync({ files: Number(values.files), textFolder, ...folder }))}`);
  }
  if (isWanted("loop")) {
    print("\nmain thread of the built program under sync and searches, milliseconds");
    await benchLoop({
      files: Number(values.files),
      textFolder,
      ...folder,
      report: (name, value) => print(`  ${name}: ${JSON.stringify(value)}`),
    });
  }
  if (isWanted("call")) {
    print("\none call of kb_search, milliseconds of CPU");
    await benchCall({
      files: Math.min(5_000, Number(values.files)),
      textFolder,
      ...folder,
      report: (name, value) => print(`  ${name}: ${JSON.stringify(value)}`),
    });
  }
  if (isWanted("serve")) {
    print("\nserving searches: memory in MiB, an open loop in milliseconds");
    await benchServe({
      files: Number(values.files),
      rates: values.rate.map(Number),
      seconds: Number(values.seconds),
      textFolder,
      ...(values.keep !== undefined && { keep: values.keep }),
      report: (name, value) => print(`  ${name}: ${JSON.stringify(value)}`),
    });
  }
  if (isWanted("bulk")) {
    print("\nsearches after a bulk load: an open loop in milliseconds");
    await benchBulk({
      items: Number(values.items),
      rate: Number(values.rate.find((rate) => rate !== "100") ?? 200),
      seconds: Number(values.seconds),
      textFolder,
      report: (name, value) => print(`  ${name}: ${JSON.stringify(value)}`),
    });
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
