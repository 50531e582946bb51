/**
 * What a server holds while it is used for long, by the built program: `npx tsx test/long/soak.ts [MINUTES]` (12) lets people
 * search 20 times a second, a program push 20 lines a second, files change and sync every 30 seconds, and tokens come and
 * go. Prints memory, descriptors, the write-ahead log and the folder every 30 seconds, and exits with 1 when one of them
 * goes on growing, or a call failed. Linux only: it reads `/proc`.
 */
import { appendFileSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { type Load, memoryOf, runOpenLoop } from "../bench/load.ts";
import { makeQuestions } from "../bench/questions.ts";
import { type Ask, type BenchServer, signIn, startServer, syncFolder } from "../bench/server.ts";
import { makeFiles } from "../bench/sync.ts";

const MINUTES = Number(process.argv[2] ?? 12);
const [FILES, SEARCHES_PER_SECOND, LINES_PER_SECOND] = [5_000, 20, 20];
const [SAMPLE_MS, SYNC_MS, PUSH_MS, TOKEN_MS] = [30_000, 30_000, 5_000, 2_000];
const CHANGES = 50;
const TEXT_FOLDER = new URL("../../docs", import.meta.url).pathname;
/** What the second half may hold more than the first: caches fill, and a merge needs room for a while. */
const MOST_GROWTH = { rssMb: 80, descriptors: 24, walMb: 40 };

interface Sample {
  rssMb: number;
  rssAnonMb: number;
  descriptors: number;
  walMb: number;
  folderMb: number;
}

type Stop = () => Promise<void>;

const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-soak-")));
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}

async function main(): Promise<boolean> {
  const folder = join(dir, "files");
  makeFiles(folder, FILES, TEXT_FOLDER);
  const server = await startServer(dir, [folder]);
  try {
    const ask = await signIn(server.url);
    await syncFolder(ask, folder);
    const { plaintext } = (await ask("POST", "/api/api-tokens", { name: "soak" })) as { plaintext: string };
    const load: Load = { url: server.url, token: plaintext, questions: makeQuestions(folder) };
    const end = sleep(MINUTES * 60_000);
    const failures: string[] = [];
    const stops = startWork({ ask, url: server.url, folder, push: await addPush(ask) }, failures);
    const samples: Sample[] = [];
    const stopSampling = repeat(SAMPLE_MS, async () => void samples.push(sampleOf(server)));
    const { failed, firstFailure, ...delays } = await runOpenLoop(load, SEARCHES_PER_SECOND, end);
    await Promise.all([...stops, stopSampling].map((stop) => stop()));
    say(
      `searches: ${JSON.stringify(delays)}, ${failed} failed ${firstFailure ?? ""}; load ${loadavg()[0]?.toFixed(1)}`,
    );
    for (const failure of new Set(failures)) say(`failed: ${failure}`);
    return [failed === 0, failures.length === 0, isSteady(samples)].every(Boolean);
  } finally {
    await server.stop();
  }
}

/** Lines of a push connector, and the key that sends them. */
async function addPush(ask: Ask): Promise<{ id: string; key: string }> {
  const access = { visibility: "workspace" };
  const made = await ask("POST", "/api/connectors", { providerId: "push", name: "soak-push", access });
  // The route's schema names both.
  return { id: (made["connector"] as { id: string }).id, key: String(made["key"]) };
}

/** What goes on beside the searches, until each is stopped. What failed goes to `failures`. */
function startWork(
  { ask, url, folder, push }: { ask: Ask; url: string; folder: string; push: { id: string; key: string } },
  failures: string[],
): Stop[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));
  let [changed, pushed] = [0, 0];
  const works: [number, () => Promise<void>][] = [
    [SYNC_MS, () => changeAndSync()],
    [PUSH_MS, () => sendLines()],
    [TOKEN_MS, () => makeAndRevoke(ask)],
  ];
  return works.map(([ms, work]) =>
    repeat(ms, () => work().catch((error: unknown) => void failures.push(String(error).slice(0, 300)))),
  );

  async function changeAndSync(): Promise<void> {
    for (let n = 0; n < CHANGES; n++) {
      appendFileSync(join(folder, files[changed++ % files.length] ?? ""), `\nchange${changed} of a soaked folder\n`);
    }
    // The contract's list.
    const { connectors } = (await ask("GET", "/api/connectors")) as {
      connectors: { id: string; providerId: string }[];
    };
    const { id } = connectors.find(({ providerId }) => providerId === "filesystem") ?? { id: "" };
    await ask("POST", `/api/connectors/${id}/syncs`, {});
  }

  async function sendLines(): Promise<void> {
    const lines = Array.from({ length: (LINES_PER_SECOND * PUSH_MS) / 1_000 }, () => lineOf(pushed++)).join("\n");
    const headers = { authorization: `Bearer ${push.key}`, "content-type": "application/x-ndjson" };
    const answer = await fetch(`${url}/api/connectors/${push.id}/items`, { method: "POST", headers, body: lines });
    const text = await answer.text();
    if (!answer.ok || text.includes('"error"')) throw new Error(`push: ${answer.status} ${text.slice(0, 200)}`);
  }
}

async function makeAndRevoke(ask: Ask): Promise<void> {
  // The contract's answer of a creation.
  const { token } = (await ask("POST", "/api/api-tokens", { name: "brief" })) as { token: { id: string } };
  await ask("DELETE", `/api/api-tokens/${token.id}`);
}

/** Every item comes again after 2,000 others, with other words. */
function lineOf(n: number): string {
  const id = n % 2_000;
  const text = `round ${Math.floor(n / 2_000)} word${n % 997} word${n % 463} of a pushed item`;
  const access = { known: true, all: [["workspace"]] };
  return JSON.stringify({
    t: "upsert",
    item: { externalId: `S-${id}`, kind: "task", title: `Task ${id}`, text, access },
  });
}

/** Works again and again, never twice at a time; the result ends it and waits for what is under way. */
function repeat(ms: number, work: () => Promise<void>): Stop {
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= work().finally(() => (underWay = undefined));
  }, ms);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

function sampleOf({ child }: BenchServer): Sample {
  const data = join(dir, "data");
  const sizes = readdirSync(data).map((name) => ({ name, bytes: statSync(join(data, name)).size }));
  const mb = (bytes: number) => Math.round(bytes / 1_048_576);
  const sample = {
    ...memoryOf(child.pid ?? 0),
    descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
    walMb: mb(sizes.find(({ name }) => name.endsWith("-wal"))?.bytes ?? 0),
    folderMb: mb(sizes.reduce((sum, { bytes }) => sum + bytes, 0)),
  };
  say(JSON.stringify(sample));
  return sample;
}

/** Whether the second half of the samples holds no more than the first, but for what caches and merges take. */
function isSteady(samples: readonly Sample[]): boolean {
  const middle = Math.ceil(samples.length / 2);
  const peakOf = (of: readonly Sample[], name: keyof typeof MOST_GROWTH) => Math.max(...of.map((one) => one[name]));
  const names = Object.keys(MOST_GROWTH) as (keyof typeof MOST_GROWTH)[];
  return names
    .map((name) => {
      const [first, second] = [peakOf(samples.slice(0, middle), name), peakOf(samples.slice(middle), name)];
      const isGood = second - first <= MOST_GROWTH[name];
      say(`${isGood ? "ok  " : "FAIL"} ${name}: at most ${first}, then ${second}`);
      return isGood;
    })
    .every(Boolean);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
