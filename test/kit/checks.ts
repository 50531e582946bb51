import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import { judgeAccess } from "#core/principals.ts";
import { readContent } from "#sources/content.ts";
import type { SourceItem, SyncEvent } from "#sources/contract.ts";
import { contextOf, type KitFixture } from "./fixture.ts";
import { makeReplica, runInto, snapshotOf } from "./replica.ts";

/** One thing every source must get right. Gives the faults found, each a sentence; none = passed. */
export interface SourceCheck {
  id: string;
  title: string;
  run(fixture: KitFixture): Promise<string[]>;
}

export const configSchema: SourceCheck = {
  id: "config-schema",
  title: "the configuration is a strict object whose JSON Schema explains each key",
  async run({ source }) {
    const schema = JsonObjectSchema.safeParse(z.toJSONSchema(source.spec.config, { io: "input" }));
    if (!schema.success) return ["The JSON Schema is no object with additionalProperties: false."];
    return Object.entries(schema.data.properties)
      .filter(([, property]) => property.title === undefined || property.description === undefined)
      .map(([key]) => `The key ${key} has no title or no description.`);
  },
};

export const checkOk: SourceCheck = {
  id: "check-ok",
  title: "check accepts what works",
  async run(fixture) {
    const answer = await fixture.source.check(contextOf(fixture));
    return answer.ok ? [] : [`check refused the good configuration: ${answer.problem.message}`];
  },
};

export const badConfig: SourceCheck = {
  id: "bad-config",
  title: "a bad configuration or credential is a typed problem, never a throw",
  async run(fixture) {
    const faults: string[] = [];
    if (fixture.badConfigs.length === 0) faults.push("The fixture names no bad configuration.");
    for (const bad of fixture.badConfigs) {
      const parsed = fixture.source.spec.config.safeParse(bad);
      if (parsed.success)
        faults.push(...(await refusalFaults({ ...fixture, config: parsed.data }, JSON.stringify(bad))));
    }
    const { badCredentials } = fixture;
    if (badCredentials !== undefined) {
      faults.push(...(await refusalFaults({ ...fixture, credentials: badCredentials }, "bad credentials")));
    }
    return faults;
  },
};

export const fullSync: SourceCheck = {
  id: "full-sync",
  title: "a full run names every item once, checkpoints after the last and ends complete",
  async run(fixture) {
    const { events } = await runInto(fixture, makeReplica());
    const faults = itemsOf(events).flatMap((item) => itemFaults(item, fixture));
    const ids = itemsOf(events).map((item) => item.externalId);
    if (new Set(ids).size < ids.length) faults.push("An id was handed over twice.");
    if (ids.length < fixture.minItems) faults.push(`Only ${ids.length} of at least ${fixture.minItems} items came.`);
    const end = events.at(-1);
    if (end?.t !== "end" || end.listing !== "complete") faults.push("The last event is not a complete end.");
    if (events.filter((event) => event.t === "end").length > 1) faults.push("There is more than one end.");
    const lastItem = events.findLastIndex((event) => CARRIES_ITEMS.has(event.t));
    const lastCheckpoint = events.findLastIndex((event) => event.t === "checkpoint");
    if (lastCheckpoint < lastItem) faults.push("No checkpoint comes after the last item.");
    return faults;
  },
};

export const access: SourceCheck = {
  id: "access",
  title: "every item but a child says who may read it, within the source's authority, and never nobody-may-match-all",
  async run(fixture) {
    const { events } = await runInto(fixture, makeReplica());
    return itemsOf(events).flatMap(({ externalId, access, partOf }) => {
      if (access === undefined && partOf !== undefined) return [];
      // Read as data: a source may hand over less than its types say.
      const { success } = AccessShape.safeParse(access);
      if (!success || access === undefined) return [`${externalId} has no access, or a known one without a list.`];
      const { offending } = judgeAccess(access, fixture.authority);
      return offending.map((principal) => `${externalId} names ${JSON.stringify(principal)}, which is not its own.`);
    });
  },
};

export const urls: SourceCheck = {
  id: "urls",
  title: "an item's url is http(s) or absent",
  async run(fixture) {
    const { events } = await runInto(fixture, makeReplica());
    const withUrl = itemsOf(events).filter((item) => item.url !== undefined);
    return withUrl
      .filter((item) => !/^https?:\/\/[^\s]+$/i.test(item.url ?? ""))
      .map((item) => `${item.externalId} has the url ${item.url}.`);
  },
};

export const repeatable: SourceCheck = {
  id: "repeatable",
  title: "a second full run over the same remote hands over the same items and versions",
  async run(fixture) {
    const [first, second] = [makeReplica(), makeReplica()];
    await runInto(fixture, first);
    await runInto(fixture, second);
    return sameFaults(snapshotOf(first), snapshotOf(second), "The second full run differs");
  },
};

export const idle: SourceCheck = {
  id: "idle",
  title: "a run over an unchanged remote hands over at most one item and changes nothing",
  async run(fixture) {
    const replica = makeReplica();
    await runInto(fixture, replica);
    const before = snapshotOf(replica);
    const { events } = await runInto(fixture, replica, { mode: "incremental" });
    const sent = itemsOf(events).length;
    const faults = sent > 1 ? [`${sent} items were sent again though nothing changed.`] : [];
    return [...faults, ...sameFaults(before, snapshotOf(replica), "An idle run changed the records")];
  },
};

export const odd: SourceCheck = {
  id: "odd-titles",
  title: "titles in any script, very long or empty ones arrive with a readable title",
  async run(fixture) {
    const ids = (await fixture.addOdd?.()) ?? [];
    const replica = makeReplica();
    await runInto(fixture, replica);
    return ids.flatMap((id) => {
      const item = replica.items.get(id);
      return item === undefined ? [`${JSON.stringify(id)} did not arrive.`] : itemFaults(item, fixture);
    });
  },
};

export const content: SourceCheck = {
  id: "content",
  title: "content can be fetched, and that of an unknown id is source_not_found",
  async run(fixture) {
    const { events } = await runInto(fixture, makeReplica());
    const item = itemsOf(events).find((candidate) => candidate.content.type === "fetch");
    const { source } = fixture;
    if (item === undefined) return [];
    if (source.fetchContent === undefined) return ["Items say fetch, but there is no fetchContent."];
    const faults: string[] = [];
    const file = await source.fetchContent(contextOf(fixture), {
      externalId: item.externalId,
      ...(item.content.type === "fetch" && item.content.ref !== undefined && { ref: item.content.ref }),
      ...(item.version !== undefined && { version: item.version }),
    });
    const [bytes, { fileName }] = [await readContent(file), file];
    if (!bytes || bytes.length === 0 || fileName === "")
      faults.push(`${item.externalId} gave no bytes or no file name.`);
    try {
      await source.fetchContent(contextOf(fixture), { externalId: "kb-kit-no-such-item" });
      faults.push("An unknown id gave content.");
    } catch (error) {
      if (!isApiError(error, "source_not_found")) faults.push(`An unknown id threw ${String(error)}.`);
    }
    return faults;
  },
};

export const scope: SourceCheck = {
  id: "scope",
  title: "a narrower scope yields some of the items and removes the others",
  async run(fixture) {
    const replica = makeReplica();
    await runInto(fixture, replica);
    const all = new Set(replica.items.keys());
    await runInto(fixture, replica, { scope: fixture.narrowerScope });
    const left = [...replica.items.keys()];
    if (left.length === 0 || left.length >= all.size) return [`${left.length} of ${all.size} items are left.`];
    return left.filter((id) => !all.has(id)).map((id) => `${id} came only with the narrower scope.`);
  },
};

export const abort: SourceCheck = {
  id: "abort",
  title: "an aborted run returns within a second and does not claim to be complete",
  async run(fixture) {
    const controller = new AbortController();
    const running = runInto(fixture, makeReplica(), {
      signal: controller.signal,
      onEvent: () => controller.abort(),
    }).catch((error: unknown) => error);
    const outcome = await Promise.race([running, delay(1_000, "late", { ref: false })]);
    if (outcome === "late") return ["The run went on for over a second after it was aborted."];
    if (!(typeof outcome === "object" && outcome !== null && "events" in outcome)) return [];
    const { events } = await runInto(fixture, makeReplica());
    const named = Array.isArray(outcome.events) ? outcome.events : [];
    const claimsAll = named.some((event) => event.t === "end" && event.listing === "complete");
    return claimsAll && named.length < events.length ? ["An aborted run said that it was complete."] : [];
  },
};

/** Event types that name items. */
const CARRIES_ITEMS: ReadonlySet<SyncEvent["t"]> = new Set(["upsert", "access", "delete", "seen"]);

const AccessShape = z.union([
  z.object({ known: z.literal(false) }),
  z.object({ known: z.literal(true), all: z.array(z.array(z.string())).min(1) }),
]);

const JsonObjectSchema = z.object({
  type: z.literal("object"),
  additionalProperties: z.literal(false),
  properties: z.record(z.string(), z.object({ title: z.string().optional(), description: z.string().optional() })),
});

/** The items of upserts, in order. */
export function itemsOf(events: readonly SyncEvent[]): SourceItem[] {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item] : []));
}

/** A sentence for each difference, three at most. */
export function sameFaults(expected: readonly string[], actual: readonly string[], what: string): string[] {
  const [wanted, got] = [new Set(expected), new Set(actual)];
  const missing = expected.filter((item) => !got.has(item)).map((item) => `${what}: missing ${item.slice(0, 300)}`);
  const extra = actual.filter((item) => !wanted.has(item)).map((item) => `${what}: unexpected ${item.slice(0, 300)}`);
  return [...missing, ...extra].slice(0, 3);
}

function itemFaults(item: SourceItem, { source }: KitFixture): string[] {
  const id = JSON.stringify(item.externalId);
  const faults: string[] = [];
  if (item.externalId === "") faults.push("An item has an empty id.");
  if (item.title.trim() === "") faults.push(`${id} has no readable title.`);
  if (/\p{Cs}/u.test(item.title)) faults.push(`${id} has half a character in its title.`);
  if (!source.spec.kinds.includes(item.kind)) faults.push(`${id} is a ${item.kind}, which the spec does not name.`);
  if (item.version === undefined) faults.push(`${id} has no version.`);
  return faults;
}

async function refusalFaults(fixture: KitFixture, what: string): Promise<string[]> {
  try {
    const answer = await fixture.source.check(contextOf(fixture));
    if (answer.ok) return [`check accepted ${what}.`];
    const isTyped = answer.problem.code !== "" && answer.problem.message !== "";
    return isTyped ? [] : [`The problem for ${what} has no code or no message.`];
  } catch (error) {
    return [`check threw for ${what}: ${String(error)}`];
  }
}
