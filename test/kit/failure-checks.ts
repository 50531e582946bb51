import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type ErrorCode, isApiError } from "#api/errors.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { abortMsOf, failureOf, readAll, type SourceCheck } from "./check.ts";
import { callsOf, contextOf, type Failing, type Failure, type KitFixture } from "./fixture.ts";
import { runPeopleInto, makePeopleReplica } from "./people-replica.ts";
import { makeReplica, type Replica, runInto } from "./replica.ts";

export const unreachable: SourceCheck = {
  id: "unreachable",
  title:
    "a remote that can't be reached is source_unavailable or source_not_found, never an empty listing; check says so",
  isReading: true,
  run: async (fixture) => outageFaults(fixture, "unreachable", ["source_unavailable", "source_not_found"]),
};

export const unauthorized: SourceCheck = {
  id: "unauthorized",
  title: "a remote that no longer accepts the credentials is source_unauthorized; check says so",
  isReading: true,
  run: async (fixture) => outageFaults(fixture, "unauthorized", ["source_unauthorized"]),
};

export const limited: SourceCheck = {
  id: "limited",
  title: "a remote that wants fewer requests gets few more, and the worker the time it is to wait",
  async run(fixture) {
    return during(fixture, "rate_limited", async (replica) => {
      const [calls, requests] = [callsOf(fixture), fixture.requests?.() ?? 0];
      const isSpinning = () =>
        callsOf(fixture) - calls > MOST_TRIES || (fixture.requests?.() ?? 0) - requests > MOST_TRIES;
      const { error, isLate } = await inTime(
        (signal) => runInto(fixture, replica, { mode: "incremental", signal }),
        isSpinning,
      );
      if (isSpinning()) return [`A remote that wanted fewer requests was asked more than ${MOST_TRIES} times.`];
      if (isLate) return ["The run went on for seconds instead of giving its worker back."];
      if (!isApiError(error, "source_rate_limited")) return [`The run ended with ${said(error)}.`];
      return error.retryAfterMs === undefined ? ["No one is told how long to wait."] : [];
    });
  },
};

export const hang: SourceCheck = {
  id: "hang",
  title: "a run whose request is never answered ends with its abort",
  isReading: true,
  async run(fixture) {
    return during(fixture, "hang", async (replica) => {
      const controller = new AbortController();
      const before = fixture.requests?.() ?? 0;
      const running = failureOf(runInto(fixture, replica, { signal: controller.signal }));
      for (let looks = 0; looks < 100 && (fixture.requests?.() ?? 1) <= before; looks++) await delay(10);
      controller.abort(new Error("The run was given up."));
      const outcome = await Promise.race([running, delay(abortMsOf(fixture), "late", { ref: false })]);
      if (outcome === "late") return ["The run went on after it was aborted."];
      return outcome === undefined ? ["A run without an answer came to an end."] : [];
    });
  },
};

export const oneContainer: SourceCheck = {
  id: "one-container",
  title: "a container that can't be looked at stays as it is, and the others are read",
  isReading: true,
  run: async (fixture) => partFaults(fixture, "one_container"),
};

export const twoContainers: SourceCheck = {
  id: "two-containers",
  title: "a container at which the remote fails stays as it is, beside one that is refused, and the others are read",
  isReading: true,
  run: async (fixture) => partFaults(fixture, "two_containers"),
};

export const oneItem: SourceCheck = {
  id: "one-item",
  title: "an item that is refused ends no run, and the others are read",
  isReading: true,
  run: async (fixture) => partFaults(fixture, "one_item"),
};

export const secrets: SourceCheck = {
  id: "secrets",
  title: "no message, note or log line repeats a credential, whatever went wrong",
  isReading: true,
  async run(fixture) {
    const values = [fixture.credentials, fixture.badCredentials].flatMap((all) => Object.values(all ?? {}));
    if (values.length === 0) return [];
    const told: string[] = [];
    const hear = (...values: unknown[]) => void told.push(...values.map(textOf));
    await listen(fixture, hear);
    if (fixture.badCredentials) {
      await listen({ ...fixture, credentials: fixture.badCredentials }, hear);
    }
    for (const kind of ["unauthorized", "unreachable", "one_container", "one_item"] as const) {
      const failing = await fixture.fail?.(kind);
      if (failing) await listen(fixture, hear);
      await failing?.heal();
    }
    const leaks = told.filter((text) => values.some((value) => value !== "" && text.includes(value)));
    return leaks.slice(0, 3).map((text) => `A credential stands in ${text.slice(0, 200)}`);
  },
};

export const elsewhere: SourceCheck = {
  id: "elsewhere",
  title: "no credential goes to another origin, wherever the remote's links lead",
  needs: "leadAway",
  async run(fixture) {
    if (!fixture.leadAway) return [];
    const got: string[] = [];
    const server = createServer((request, response) => {
      got.push(`${request.url} ${JSON.stringify(request.headers)}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      // A server that listens over TCP has such an address.
      const { port } = server.address() as AddressInfo;
      await fixture.leadAway(`http://127.0.0.1:${port}`);
      const replica = makeReplica();
      await failureOf(runInto(fixture, replica));
      await failureOf(runPeopleInto(fixture, makePeopleReplica()));
      const values = Object.values(fixture.credentials ?? {});
      const isSigned = (text: string) =>
        /"(proxy-)?authorization"|"cookie"/.test(text) || values.some((value) => text.includes(value));
      return got
        .filter(isSigned)
        .slice(0, 1)
        .map(() => "The credential went to another origin.");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};

/** So many tries of one request are no spinning. */
const MOST_TRIES = 10;

/** Everything that is read, with what goes wrong. */
async function listen(fixture: KitFixture, hear: (...values: unknown[]) => void): Promise<void> {
  const { source } = fixture;
  const context = contextOf(fixture, undefined, hear);
  hear(await source.check(context).catch((error: unknown) => error));
  const replica = makeReplica();
  const onEvent = (event: SyncEvent) => {
    if (event.t === "skip" || event.t === "progress") hear(event);
  };
  hear(await failureOf(runInto(fixture, replica, { onEvent, log: hear })));
  for (const externalId of [...replica.items.keys()].slice(0, 2)) {
    if (source.fetchContent) hear(await failureOf(source.fetchContent(context, { externalId })));
  }
  if (source.browse) hear(await failureOf(source.browse(context, { parent: null })));
}

function textOf(value: unknown): string {
  if (!(value instanceof Error)) return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return `${value.message} ${JSON.stringify(value)} ${value.cause === undefined ? "" : textOf(value.cause)}`;
}

/** Reads all, makes the remote fail in this way for as long as `look` takes; a remote that can't has no faults. */
export async function during(
  fixture: KitFixture,
  kind: Failure,
  look: (replica: Replica, failing: Failing) => Promise<string[]>,
): Promise<string[]> {
  const able = await fixture.fail?.(kind);
  if (!able) return [];
  await able.heal();
  const { replica } = await readAll(fixture);
  const failing = await fixture.fail?.(kind);
  if (!failing) return [`The remote could fail as ${kind} only once.`];
  try {
    return await look(replica, failing);
  } finally {
    await failing.heal();
  }
}

async function outageFaults(fixture: KitFixture, kind: Failure, codes: readonly ErrorCode[]): Promise<string[]> {
  return during(fixture, kind, async (replica) => {
    const before = [...replica.items.keys()];
    const faults: string[] = [];
    for (const mode of ["full", "incremental"] as const) {
      const { error, isLate } = await inTime((signal) => runInto(fixture, replica, { mode, signal }));
      if (isLate) return [`A ${mode} run went on for seconds.`];
      if (!codes.some((code) => isApiError(error, code))) faults.push(`A ${mode} run ended with ${said(error)}.`);
    }
    const lost = before.filter((id) => !replica.items.has(id));
    if (lost.length > 0) faults.push(`The runs removed ${lost.slice(0, 3).join(", ")}.`);
    const answer = await fixture.source.check(contextOf(fixture)).catch((error: unknown) => error);
    const isRefused = typeof answer === "object" && answer !== null && "ok" in answer && answer.ok === false;
    const isThrown = codes.some((code) => isApiError(answer, code));
    if (!isRefused && !isThrown) faults.push(`check said ${said(answer)}.`);
    return faults;
  });
}

async function partFaults(
  fixture: KitFixture,
  kind: "one_container" | "two_containers" | "one_item",
): Promise<string[]> {
  return during(fixture, kind, async (known, { externalIds }) => {
    const faults: string[] = [];
    const all = [...known.items.keys()];
    for (const [what, replica] of [
      ["first", makeReplica()],
      ["next", known],
    ] as const) {
      const { error } = await inTime((signal) => runInto(fixture, replica, { signal }));
      if (error !== undefined) faults.push(`The ${what} run ended with ${said(error)}.`);
      const expected = all.filter((id) => what === "next" || !externalIds.includes(id));
      const missing = expected.filter((id) => !replica.items.has(id));
      if (missing.length > 0) faults.push(`After the ${what} run ${missing.slice(0, 3).join(", ")} is missing.`);
    }
    if (kind !== "one_item" || !fixture.source.fetchContent) return faults;
    for (const externalId of externalIds) {
      const error = await failureOf(fixture.source.fetchContent(contextOf(fixture), { externalId }));
      if (!isApiError(error)) faults.push(`Content that is refused ended with ${said(error)}.`);
    }
    return faults;
  });
}

/** What a run ended with; after three seconds, or when it is enough, it is given up. */
async function inTime(
  run: (signal: AbortSignal) => Promise<unknown>,
  isEnough: () => boolean = () => false,
): Promise<{ error: unknown; isLate: boolean }> {
  const controller = new AbortController();
  const running = failureOf(run(controller.signal)).then((error) => ({ error, isLate: false }));
  const late = { error: undefined, isLate: true };
  for (let looks = 0; looks < 300 && !isEnough(); looks++) {
    const outcome = await Promise.race([running, delay(10, late, { ref: false })]);
    if (outcome !== late) return outcome;
  }
  controller.abort(new Error("The run was given up."));
  return late;
}

function said(error: unknown): string {
  if (error === undefined) return "no failure";
  return error instanceof Error
    ? `${"code" in error ? String(error.code) : error.name}: ${error.message}`
    : JSON.stringify(error);
}
