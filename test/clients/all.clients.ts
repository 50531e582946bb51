/**
 * Real clients in exact versions against the installed package: `npm run test:clients`. `KB_TEST_CLIENTS` chooses some, as
 * `mcp-1.12.4 mcp-remote-0.1.18`. A client that can't be installed is not run, and a step that passed in the committed
 * results must pass. A run of all clients writes the results, from which `npm run gen` makes the table in docs/clients.md.
 */
import { afterAll, expect, test } from "vitest";
import { CLIENTS, type RealClient } from "./clients.ts";
import { idOf, install } from "./install.ts";
import { type Outcome, readResults, type Result, type Step, STEPS, writeResults } from "./results.ts";
import { type Kb, startKb } from "./server.ts";
import type { Session } from "./session.ts";

const STEP_MS = 45_000;

const chosen = process.env["KB_TEST_CLIENTS"]?.split(/[\s,]+/u).filter(Boolean);
const before = new Map(readResults().map((result) => [idOf(result), result]));
const ran = new Map<string, Result>();

for (const id of chosen ?? []) {
  if (!CLIENTS.some((client) => idOf(client) === id))
    throw new Error(`KB_TEST_CLIENTS names ${id}, which is no client.`);
}

for (const client of CLIENTS.filter((one) => chosen?.includes(idOf(one)) ?? true)) {
  const id = idOf(client);
  test(id, { timeout: 400_000 }, async ({ skip }) => {
    const folder = installOrSay(client);
    if (folder === undefined) return skip("it could not be installed");
    const kb = await startKb();
    const result = await goThrough(client, folder, kb);
    ran.set(id, result);
    const lost = STEPS.filter((step) => before.get(id)?.steps[step] === "passed" && result.steps[step] !== "passed");
    expect(lost, result.reason).toEqual([]);
  });
}

afterAll(() => {
  if (chosen !== undefined) return;
  writeResults(CLIENTS.flatMap((client) => ran.get(idOf(client)) ?? before.get(idOf(client)) ?? []));
});

function installOrSay(client: RealClient): string | undefined {
  try {
    return install(client);
  } catch (error) {
    process.stderr.write(`${idOf(client)}: not run. ${String(error)}\n`);
    return undefined;
  }
}

/** Every step in order; what follows a failed one fails too. */
async function goThrough(client: RealClient, folder: string, kb: Kb): Promise<Result> {
  const { name, version, registry, credential } = client;
  const steps: Partial<Record<Step, Outcome>> = {};
  let reason: string | undefined;
  let session: Session | undefined;
  for (const step of STEPS) {
    if (step !== "sign-in" && session !== undefined && !isOffered(step, client, session)) {
      steps[step] = "not offered";
      continue;
    }
    try {
      if (reason !== undefined) throw new Error("A step before it failed.");
      if (step === "sign-in") session = await within(Promise.resolve(client.open(folder, kb)));
      else if (session !== undefined) await within(DO[step](session, kb));
      steps[step] = "passed";
    } catch (error) {
      reason ??= `${step}: ${String(error instanceof Error ? error.message : error).trim()}`;
      steps[step] = "failed";
    }
  }
  // One outcome for each step.
  const result: Result = { name, version, registry, credential, steps: steps as Record<Step, Outcome> };
  if (reason !== undefined) process.stderr.write(`${idOf(client)}: ${reason}\n`);
  return reason === undefined ? result : { ...result, reason: tellingLine(reason) };
}

function isOffered(step: Step, { credential }: RealClient, session: Session): boolean {
  if (step === "search") return session.search !== undefined;
  return step !== "refresh" || credential === "OAuth";
}

const useOnce = (session: Session) => (session.search ?? session.list)();

const DO: Record<Exclude<Step, "sign-in">, (session: Session, kb: Kb) => Promise<void>> = {
  list: (session) => session.list(),
  search: useOnce,
  async restart(session, kb) {
    await kb.restart();
    await useOnce(session);
  },
  async refresh(session, kb) {
    await kb.restartLater();
    await session.moveClock?.();
    await useOnce(session);
    expect(kb.output(), "the client took a new access token").toContain("/oauth/token");
  },
};

function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${STEP_MS / 1000} seconds`)), STEP_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The line that names the error: Python prints its way there first. Addresses differ from run to run. */
function tellingLine(reason: string): string {
  const lines = reason.split("\n");
  const line = lines.findLast((one) => /\w*(?:Error|Exception)\b.*: /u.test(one)) ?? lines[0] ?? "";
  return line
    .replaceAll(/:\d{4,5}\b/gu, ":PORT")
    .trim()
    .slice(0, 240);
}
