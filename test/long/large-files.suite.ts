import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { makeRandom } from "../extract/mutations.ts";
import { BOOTSTRAP, cleanEnv, findUrl, signInAdmin } from "../e2e/server-process.ts";

export interface LargeFiles {
  /** The built program, `dist/cli.js`. */
  program: string;
  /** A folder that does not exist yet. */
  dataDir: string;
  connectors: number;
  /** Of each connector. */
  files: number;
  megabytes: number;
  /** How long it is left alone after the syncs. */
  restMs: number;
  /** The syncs are cancelled then. */
  mostMs: number;
  env?: Record<string, string>;
  say?(line: string): void;
}

/** Bytes, of the server's process (`server`) and of it and everything it started (`tree`); `anon` is no file's. */
export interface Memory {
  tree: number;
  server: number;
  anon: number;
}

export interface LargeFilesResult {
  before: Memory;
  /** The most of each at any time. */
  peak: Memory;
  after: Memory;
  /** How each connector's run ended. */
  states: string[];
  indexed: number;
  tookMs: number;
}

const MEGABYTE = 1024 * 1024;

/** Syncs large text files of a WebDAV server with the program, and tells what memory that took and left. */
export async function syncLargeFiles(options: LargeFiles): Promise<LargeFilesResult> {
  const dav = await serveDav(options.files, options.megabytes * MEGABYTE);
  const { port } = dav.address() as AddressInfo;
  const { child, url } = await startProgram(options, port);
  const measure = makeMeasure(child);
  try {
    const call = await signInAdmin(url);
    await pause(3_000);
    const before = measure.now();
    const startedAt = performance.now();
    const ids = [];
    for (let i = 0; i < options.connectors; i++) {
      const config = { url: `http://127.0.0.1:${port}/${i}/`, readers: ["workspace"], maxFileMb: 50 };
      const wanted = { providerId: "webdav", name: `Files ${i}`, config, access: { visibility: "workspace" } };
      const made = await call("POST", "/api/connectors", wanted);
      if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.json)}`);
      ids.push(String(made.json.connector.id));
    }
    const states = await untilDone(call, ids, { ...options, measure });
    const tookMs = performance.now() - startedAt;
    const peak = measure.peak();
    options.say?.(`peak ${describe(peak)}; ${Math.round(tookMs / 1_000)} s; ${states.join(" ")}`);
    await pause(options.restMs);
    const after = measure.now();
    let indexed = 0;
    for (const id of ids) indexed += (await call("GET", `/api/connectors/${id}`)).json.connector.counts.indexed;
    return { before, peak, after, states, indexed, tookMs };
  } finally {
    measure.stop();
    if (child.kill("SIGKILL")) await once(child, "exit");
    dav.closeAllConnections();
    dav.close();
  }
}

/** Memory in megabytes. */
export function describe({ tree, server, anon }: Memory): string {
  const mb = (bytes: number) => Math.round(bytes / MEGABYTE);
  return `tree ${mb(tree)} MB, server ${mb(server)} MB (anonymous ${mb(anon)})`;
}

type Call = Awaited<ReturnType<typeof signInAdmin>>;

async function untilDone(
  call: Call,
  ids: readonly string[],
  { mostMs, say, measure }: Pick<LargeFiles, "mostMs" | "say"> & { measure: ReturnType<typeof makeMeasure> },
): Promise<string[]> {
  const end = performance.now() + mostMs;
  for (let round = 0; ; round++) {
    const states: string[] = [];
    let done = 0;
    for (const id of ids) {
      const { json } = await call("GET", `/api/connectors/${id}/syncs?limit=10`);
      // Who reads them is told by a run of its own.
      const run = (json.syncs as { mode: string }[]).find(({ mode }) => mode !== "identities") as typeof json;
      states.push(String(run?.state));
      done += Number(run?.progress?.done ?? 0);
    }
    if (round % 10 === 0) say?.(`${done} files, ${describe(measure.now())}`);
    if (states.every((state) => !["queued", "running", "waiting", "cancelling"].includes(state))) return states;
    if (performance.now() > end) {
      for (const id of ids) await call("POST", `/api/connectors/${id}/pause`, {});
      return states;
    }
    await pause(1_000);
  }
}

async function startProgram(
  { program, dataDir, env = {} }: LargeFiles,
  port: number,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [program, "serve", "--port=0", `--data-dir=${dataDir}`], {
    env: cleanEnv(join(dataDir, ".."), {
      ...BOOTSTRAP,
      KB_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${port}`,
      KB_LOG_LEVEL: "warn",
      ...env,
    }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      output += String(chunk);
      const found = findUrl(output);
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });
  return { child, url };
}

/** Looks at the memory of a process and its descendants ten times a second. */
function makeMeasure({ pid }: ChildProcess) {
  const peak: Memory = { tree: 0, server: 0, anon: 0 };
  const now = (): Memory => {
    const own = statusOf(pid ?? 0);
    const tree = descendantsOf(pid ?? 0).reduce((sum, each) => sum + statusOf(each).rss, own.rss);
    return { tree, server: own.rss, anon: own.anon };
  };
  const timer = setInterval(() => {
    const { tree, server, anon } = now();
    peak.tree = Math.max(peak.tree, tree);
    peak.server = Math.max(peak.server, server);
    peak.anon = Math.max(peak.anon, anon);
  }, 100);
  return { now, peak: () => ({ ...peak }), stop: () => clearInterval(timer) };
}

function statusOf(pid: number): { rss: number; anon: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1_024;
    return { rss: read("VmRSS"), anon: read("RssAnon") };
  } catch {
    // It has ended.
    return { rss: 0, anon: 0 };
  }
}

function descendantsOf(pid: number): number[] {
  try {
    const own = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return [...own, ...own.flatMap(descendantsOf)];
  } catch {
    return [];
  }
}

/** A WebDAV server with folders of text files, which it makes as it sends them. */
async function serveDav(files: number, size: number): Promise<Server> {
  const blocks = textBlocks();
  const server = createServer((request, response) => {
    const [, folder = "", name = ""] = (request.url ?? "").split("/");
    const headers = { etag: `"${folder}-${name}-${size}"`, "last-modified": "Wed, 07 Jan 2026 10:00:00 GMT" };
    if (request.method === "PROPFIND") {
      response.writeHead(207, { "content-type": "application/xml" });
      response.end(listing(folder, name, { files, size }));
    } else if (/^\d+\.txt$/.test(name)) {
      response.writeHead(200, { ...headers, "content-type": "text/plain", "content-length": size });
      // One that is ended early is nobody's failure.
      pipeline(Readable.from(textOf(blocks, size, Number.parseInt(name, 10))), response, () => undefined);
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function listing(folder: string, name: string, { files, size }: { files: number; size: number }): string {
  const file = (file: string) =>
    `<response><href>/${folder}/${file}</href><propstat><prop><resourcetype/><getetag>"${folder}-${file}-${size}"</getetag>` +
    `<getcontentlength>${size}</getcontentlength><getlastmodified>Wed, 07 Jan 2026 10:00:00 GMT</getlastmodified></prop>` +
    "<status>HTTP/1.1 200 OK</status></propstat></response>";
  const self =
    `<response><href>/${folder}/</href><propstat><prop><resourcetype><collection/></resourcetype></prop>` +
    "<status>HTTP/1.1 200 OK</status></propstat></response>";
  const entries = Array.from({ length: files }, (_, i) => file(`${i}.txt`));
  return `<?xml version="1.0"?><multistatus xmlns="DAV:">${name === "" ? self + entries.join("") : file(name)}</multistatus>`;
}

function* textOf(blocks: readonly Buffer[], size: number, from: number): Generator<Buffer, void> {
  let left = size;
  for (let i = from; left > 0; i++) {
    const block = blocks[i % blocks.length]?.subarray(0, left) ?? Buffer.alloc(0);
    left -= block.length;
    yield block;
  }
}

/** Lines of words, 20,000 different ones. */
function textBlocks(): Buffer[] {
  const random = makeRandom(7);
  const words = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 3 + Math.floor(random() * 7) }, () =>
      String.fromCharCode(97 + Math.floor(random() * 26)),
    ).join(""),
  );
  return Array.from({ length: 16 }, () => {
    const lines: string[] = [];
    for (let length = 0; length < MEGABYTE;) {
      const line = Array.from({ length: 12 }, () => words[Math.floor(random() ** 2 * words.length)]).join(" ");
      lines.push(line);
      length += line.length + 1;
    }
    return Buffer.from(`${lines.join("\n")}\n`);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
