/** Many connectors of real sources on two workers: one is huge, one fails, one is limited. Time is real. */
import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { makeConfluenceSource } from "#sources/confluence/index.ts";
import type { Source } from "#sources/contract.ts";
import { LIMITS, makeGithubSource } from "#sources/github/index.ts";
import { makeJiraSource } from "#sources/jira/index.ts";
import { makeS3Source } from "#sources/s3/index.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { thisMachine } from "../../kit/network.ts";
import { fakeExtractor } from "../../server/sync/harness.ts";
import { openSite as openConfluence } from "../../sources/confluence/fixture.ts";
import { places } from "../../sources/github/fixture.ts";
import { openSite as openJira } from "../../sources/jira/fixture.ts";
import { CREDENTIALS } from "../../sources/s3/fixture.ts";
import { makeStore, serveStore } from "../../sources/s3/store.ts";
import { tempDir } from "../../temp-dir.ts";
import { startForge } from "./forge.ts";

interface Wanted {
  role: "huge" | "failing" | "limited" | "small";
  providerId: string;
  config: object;
  credentials: Record<string, string>;
}

export interface Ended {
  role: Wanted["role"];
  name: string;
  /** Since all were connected; undefined = not yet. */
  seconds: number | undefined;
  state: string;
  code: string | undefined;
  items: number;
}

const SAY_EVERY_MS = 60_000;
const plenty = { perMinute: 1_000_000, burst: 100_000 };

/** Connects so many, the huge one first, and works until all but the failing one are done. */
export async function runFleet({ count, hugeIssues, seen, say = () => undefined }: FleetOptions) {
  const huge = await startForge(tempDir(), [hugeIssues]);
  onTestFinished(() => huge.server.stop());
  const forge = await startForge(tempDir(), Array<number>(count).fill(40));
  onTestFinished(() => forge.server.stop());
  const limited = await startForge(tempDir(), [40]);
  onTestFinished(() => limited.server.stop());
  const failing = await startForge(tempDir(), [40]);
  onTestFinished(() => failing.server.stop());
  const [confluence, jira] = [await openConfluence("cloud"), await openJira("cloud")];
  const { store, server } = await serveStore(makeStore());
  store.pageSize = 1_000;
  for (let i = 0; i < 40 * count; i++) store.put(`part-${i % count}/object-${i}.md`, `Words of object ${i}.`);

  const github = (at: typeof forge, repository: string): Omit<Wanted, "role"> => ({
    providerId: "github",
    config: { apiUrl: at.apiUrl, repositories: [`acme/${repository}`], content: ["issues", "pulls"] },
    credentials: { token: at.token },
  });
  const wanted: Wanted[] = [
    { role: "huge", ...github(huge, "repository-0") },
    { role: "failing", ...github(failing, "repository-0") },
    { role: "limited", ...github(limited, "repository-0") },
  ];
  for (let i = 0; wanted.length < count; i++) {
    const fixture = i % 5 === 3 ? confluence.fixture : i % 5 === 4 ? jira.fixture : undefined;
    if (fixture) {
      const { source, config, credentials = {} } = fixture;
      wanted.push({ role: "small", providerId: source.spec.providerId, config: config as object, credentials });
    } else if (i % 5 === 1) {
      const config = { endpoint: server.origin, bucket: "files", prefix: `part-${i}/`, readers: ["workspace"] };
      wanted.push({ role: "small", providerId: "s3", config, credentials: CREDENTIALS });
    } else wanted.push({ role: "small", ...github(forge, `repository-${i}`) });
  }

  const made = [
    makeGithubSource({
      ...places(),
      limits: { ...LIMITS, perMinute: plenty.perMinute, burst: plenty.burst, leastWaitMs: 0 },
    }),
    makeS3Source(),
    makeConfluenceSource({ limits: plenty }),
    makeJiraSource({ limits: plenty }),
  ] as unknown as Source[];
  const sources = {
    find: async (id: string) => made.find(({ spec }) => spec.providerId === id),
    list: async () => made,
  };
  const kb = await makeServer({ addressGuard: thisMachine, settings: { rateLimits: "off" } }, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor, workers: 2, isRealTime: true }),
  );
  kb.clock.advance(Date.now() - kb.clock.now());
  const timer = setInterval(() => kb.clock.advance(Date.now() - kb.clock.now()), 10);
  onTestFinished(() => clearInterval(timer));
  const owner = await kb.addOwner();
  const client = kb.as(owner);
  const connected: { id: string; role: Wanted["role"]; name: string }[] = [];
  for (const { role, ...rest } of wanted) {
    const name = `${role} ${rest.providerId} ${connected.length}`;
    const { status, json, text } = await client.post("/api/connectors", {
      ...rest,
      name,
      access: { visibility: "workspace" },
    });
    if (status !== 201) throw new Error(`${name}: ${text}`);
    connected.push({ id: json.connector.id, role, name });
  }
  failing.server.instead = (_asked, response) => (response.writeHead(500).end("{}"), true);
  // Each of its first requests is one too many.
  let left = 6;
  limited.server.instead = (_asked, response) => {
    if (--left < 0) return false;
    response.writeHead(429, { "retry-after": "2" }).end("{}");
    return true;
  };
  const startedAt = kb.clock.now();
  kb.deps.worker.start();

  async function look(): Promise<Ended[]> {
    const ended: Ended[] = [];
    for (const { id, role, name } of connected) {
      const { syncs } = (await client.get(`/api/connectors/${id}/syncs`)).json;
      const { connector } = (await client.get(`/api/connectors/${id}`)).json;
      const done = syncs.find(
        ({ state, mode }: Run) => ["succeeded", "partial"].includes(state) && mode !== "identities",
      );
      const code = connector.problem?.code ?? syncs.find(({ problem }: Run) => problem !== null)?.problem.code;
      ended.push({
        role,
        name,
        seconds: done && (Date.parse(done.finishedAt) - startedAt) / 1_000,
        state: connector.state,
        code,
        items: connector.counts?.indexed ?? 0,
      });
    }
    return ended;
  }
  let saidAt = startedAt;
  for (;;) {
    const now = await look();
    for (const each of now) seen(each);
    if (kb.clock.now() - saidAt >= SAY_EVERY_MS) {
      saidAt = kb.clock.now();
      const left = now.filter(({ role, seconds }) => role !== "failing" && seconds === undefined);
      say(`${(saidAt - startedAt) / 1_000} s: ${left.map(({ name, items }) => `${name} (${items})`).join(", ")}`);
    }
    const isDone = now.every(({ role, seconds }) => role === "failing" || seconds !== undefined);
    if (isDone) return now;
    await wait(500);
  }
}

interface Run {
  state: string;
  mode: string;
  problem: { code: string } | null;
}

interface FleetOptions {
  count: number;
  hugeIssues: number;
  /** What each shows whenever somebody looks. */
  seen(connector: Ended): void;
  /** What is not done yet, now and then. */
  say?: (line: string) => void;
}
