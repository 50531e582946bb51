/**
 * What one call of `kb_search` over `/mcp` costs, in milliseconds of CPU and not of time: other programs on the machine
 * count little. First over HTTP, by threads of the built server, beside bare Node and calls that go less far; then the
 * stages inside it, one after the other in this thread on the same data. Linux only: it reads `/proc`.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { openSearcher } from "#storage/index/read/searcher.ts";
import type { ShowRequest, ShowResponse } from "#storage/search-index.ts";
import { renderSearch } from "#server/mcp/render-search.ts";
import { startBare } from "./bare.ts";
import { cpuOf, LIMIT, mcpHeaders } from "./load.ts";
import { exchange, makeQuestions, readEverybody } from "./questions.ts";
import { type BenchServer, signIn, startServer, syncFolder } from "./server.ts";
import { makeFiles } from "./sync.ts";

export interface CallBenchOptions {
  files: number;
  /** Real text to cut the files from. */
  textFolder: string;
  /** An existing folder to sync instead of made files. */
  folder?: string;
  report(name: string, value: unknown): void;
}

const WARM_UP = 400;
const ROUNDS = 5;
const CALLS_A_ROUND = 200;

/** Runs both parts; needs `npm run build` before. */
export async function benchCall(options: CallBenchOptions): Promise<void> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-call-")));
  const folder = options.folder ?? join(dir, "files");
  if (options.folder === undefined) makeFiles(folder, options.files, options.textFolder);
  try {
    const server = await startServer(dir, [folder]);
    try {
      const ask = await signIn(server.url);
      await syncFolder(ask, folder);
      const { plaintext } = (await ask("POST", "/api/api-tokens", { name: "bench" })) as { plaintext: string };
      await reportCalls(server, plaintext, makeQuestions(folder), options.report);
    } finally {
      await server.stop();
    }
    reportStages(join(dir, "data", "kb.db"), makeQuestions(folder), options.report);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Each sort of call in turns, so that all meet the same machine. */
async function reportCalls(
  server: BenchServer,
  token: string,
  questions: readonly string[],
  report: CallBenchOptions["report"],
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const bare = await startBare();
  const rpc = (method: string, params?: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, ...(params && { params }) });
    return exchange(agent, `${server.url}/mcp`, body, mcpHeaders(token));
  };
  let asked = 0;
  const search = () => {
    const query = questions[asked++ % questions.length] ?? "";
    return rpc("tools/call", { name: "kb_search", arguments: { query, limit: LIMIT } });
  };
  const sorts: [string, ChildProcess, () => Promise<void>][] = [
    ["bare Node, 6 kB of JSON", bare.child, () => exchange(agent, bare.url, "{}", mcpHeaders(token))],
    ["/healthz", server.child, () => exchange(agent, `${server.url}/healthz`, undefined, {})],
    ["/mcp ping", server.child, () => rpc("ping")],
    ["/mcp kb_search", server.child, search],
  ];
  try {
    for (const [, , call] of sorts) for (let n = 0; n < WARM_UP; n++) await call();
    const sums = new Map<string, { main: number; others: number }>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, child, call] of sorts) {
        const before = cpuOf(child.pid ?? 0);
        for (let n = 0; n < CALLS_A_ROUND; n++) await call();
        const after = cpuOf(child.pid ?? 0);
        const sum = sums.get(name) ?? { main: 0, others: 0 };
        sums.set(name, {
          main: sum.main + after.main - before.main,
          others: sum.others + after.others - before.others,
        });
      }
    }
    const calls = ROUNDS * CALLS_A_ROUND;
    for (const [name, { main, others }] of sums) {
      report(name, { main: round(main / calls), others: round(others / calls), all: round((main + others) / calls) });
    }
  } finally {
    agent.destroy();
    bare.child.kill();
  }
}

/** What a stage costs is how much more the question takes with it than without. */
function reportStages(file: string, questions: readonly string[], report: CallBenchOptions["report"]): void {
  const { workspaceId, principals, epoch } = readEverybody(file);
  const searcher = openSearcher({ file });
  const ask = (query: string, count: number): ShowResponse => {
    const request: ShowRequest = {
      workspaceId,
      viewer: { principals, epoch },
      query,
      filters: {},
      order: "relevance",
      limit: LIMIT,
      pinned: [],
      passages: { maxChars: 240, count },
    };
    // The answer to this type of task; nobody changes permissions here.
    return searcher.perform({ type: "show", request }) as ShowResponse;
  };
  const answers = questions.map((query) => ask(query, 1));
  const messages = answers.map((answer) => serialize(answer));
  const base = { workspaceId, viewer: { principals, epoch }, filters: {}, order: "relevance" } as const;
  const stages: Record<string, (n: number) => unknown> = {
    index: (n) => searcher.perform({ type: "search", request: { ...base, query: questions[n] ?? "", limit: LIMIT } }),
    records: (n) => ask(questions[n] ?? "", 0),
    passages: (n) => ask(questions[n] ?? "", 1),
    message: (n) => [serialize(answers[n]), deserialize(messages[n] ?? Buffer.alloc(0))],
    render: (n) => render(answers[n]),
  };
  const sums: Record<string, number> = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of Object.entries(stages)) {
      const before = process.cpuUsage();
      for (let n = 0; n < questions.length; n++) run(n);
      const { user, system } = process.cpuUsage(before);
      // The first round warms up.
      if (round > 0) sums[name] = (sums[name] ?? 0) + (user + system) / 1_000 / questions.length / ROUNDS;
    }
  }
  searcher.close();
  const { index = 0, records = 0, passages = 0, message = 0, render: rendering = 0 } = sums;
  report("search thread", {
    "plan, score, count": round(index),
    "records and second check": round(records - index),
    passages: round(passages - records),
  });
  report("between threads, both sides", round(message));
  report("render", round(rendering));
}

function render(answer: ShowResponse | undefined): unknown {
  if (answer === undefined) return undefined;
  const { shown, total, isTotalExact, order } = answer;
  const asOf = 1_790_000_000_000;
  return renderSearch(
    {
      entries: shown.slice(0, LIMIT),
      facets: {},
      total,
      isTotalExact,
      match: "all",
      order,
      notes: [],
      cursorAfter: () => undefined,
      noteFault: () => undefined,
      asOf,
      tookMs: 1,
    },
    {
      maxTokens: 6_000,
      count: async (texts) => texts.map((text) => text.length / 4),
      isDetailed: false,
      isContinued: false,
      timeZone: "Europe/Berlin",
      baseUrl: "http://127.0.0.1:7700",
    },
  );
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
