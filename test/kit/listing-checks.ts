import { setTimeout as delay } from "node:timers/promises";
import { abortMsOf, itemFaults, itemsOf, namedIn, readAll, sameFaults, type SourceCheck } from "./check.ts";
import { contextOf } from "./fixture.ts";
import { makeReplica, runInto, snapshotOf } from "./replica.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";

export const fullSync: SourceCheck = {
  id: "full-sync",
  title: "a full run names every item once, checkpoints after the last and ends complete",
  isReading: true,
  async run(fixture) {
    const { events } = await readAll(fixture);
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

export const progress: SourceCheck = {
  id: "progress",
  title: "the progress of a run only rises, and never beyond its total",
  isReading: true,
  async run(fixture) {
    const { events } = await readAll(fixture);
    const told = events.flatMap((event) => (event.t === "progress" ? [event] : []));
    return told.flatMap(({ done, total }, at) => [
      ...(done < (told[at - 1]?.done ?? 0) ? [`The progress fell from ${told[at - 1]?.done} to ${done}.`] : []),
      ...(total !== undefined && done > total ? [`The progress is ${done} of ${total}.`] : []),
    ]);
  },
};

export const urls: SourceCheck = {
  id: "urls",
  title: "an item's url is http(s) or absent",
  isReading: true,
  async run(fixture) {
    const { events } = await readAll(fixture);
    const withUrl = itemsOf(events).filter((item) => item.url !== undefined);
    return withUrl
      .filter((item) => !/^https?:\/\/[^\s]+$/i.test(item.url ?? ""))
      .map((item) => `${item.externalId} has the url ${item.url}.`);
  },
};

export const repeatable: SourceCheck = {
  id: "repeatable",
  title: "a second full run over the same remote hands over the same items and versions",
  isReading: true,
  async run(fixture) {
    const { replica: first } = await readAll(fixture);
    const second = makeReplica();
    await runInto(fixture, second);
    return sameFaults(snapshotOf(first), snapshotOf(second), "The second full run differs");
  },
};

export const idle: SourceCheck = {
  id: "idle",
  title: "a run over an unchanged remote hands over at most one item and changes nothing",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
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

export const scope: SourceCheck = {
  id: "scope",
  title: "a narrower scope yields some of the items and removes the others",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
    const all = new Set(replica.items.keys());
    await runInto(fixture, replica, { scope: fixture.narrowerScope });
    const left = [...replica.items.keys()];
    if (left.length === 0 || left.length >= all.size) return [`${left.length} of ${all.size} items are left.`];
    return left.filter((id) => !all.has(id)).map((id) => `${id} came only with the narrower scope.`);
  },
};

export const inScope: SourceCheck = {
  id: "in-scope",
  title: "inScope says of each item what a run with that scope does with it",
  isReading: true,
  async run(fixture) {
    const { source, narrowerScope } = fixture;
    if (source.inScope === undefined) return [];
    const { replica: whole } = await readAll(fixture);
    const narrow = makeReplica();
    await runInto(fixture, narrow, { scope: narrowerScope });
    const faults: string[] = [];
    for (const [externalId, { containers = [], path, place }] of whole.items) {
      const placed = { externalId, containers, ...(path && { path }), ...(place !== undefined && { place }) };
      if (!source.inScope({ include: [], exclude: [] }, placed))
        faults.push(`${externalId} is outside a scope without rules.`);
      const [says, does] = [source.inScope(narrowerScope, placed), narrow.items.has(externalId)];
      if (says !== does)
        faults.push(
          `${externalId} is ${says ? "in" : "outside"} the narrower scope, and a run ${does ? "takes" : "leaves"} it.`,
        );
    }
    return faults;
  },
};

export const added: SourceCheck = {
  id: "added",
  title: "countAdded says what a wider scope adds, at most what a run then takes, and nothing of a narrower one",
  isReading: true,
  async run(fixture) {
    const { source, narrowerScope } = fixture;
    if (source.countAdded === undefined) return [];
    const everything = { include: [], exclude: [] };
    const ctx = contextOf(fixture);
    const [wider, narrower] = [
      await source.countAdded(ctx, { from: narrowerScope, to: everything }),
      await source.countAdded(ctx, { from: everything, to: narrowerScope }),
    ];
    const { replica: whole } = await readAll(fixture);
    const narrow = makeReplica();
    await runInto(fixture, narrow, { scope: narrowerScope });
    const most = [...whole.items.keys()].filter((id) => !narrow.items.has(id)).length;
    const faults: string[] = [];
    if (wider === undefined) faults.push("It does not know of a few items.");
    else if (wider.items < 1 || wider.items > most) faults.push(`It counts ${wider.items}, and a run adds ${most}.`);
    if (narrower !== undefined && narrower.items > 0) faults.push(`A narrower scope adds ${narrower.items}.`);
    for (const { calls } of [wider, narrower].flatMap((each) => each ?? []))
      if (!Number.isSafeInteger(calls) || calls < 0) faults.push(`${calls} is no number of requests.`);
    return faults;
  },
};

export const items: SourceCheck = {
  id: "items",
  title: "a run of mode items names the items it was asked for, and deletes those that are gone",
  async run(fixture) {
    const replica = makeReplica();
    await runInto(fixture, replica);
    const [edited, gone] = [await fixture.edit(), await fixture.remove()];
    const before = replica.items.get(edited)?.version;
    const others = [...replica.items.keys()].filter((id) => id !== edited && id !== gone);
    const { events } = await runInto(fixture, replica, { mode: "items", externalIds: [edited, gone] });
    const faults: string[] = [];
    if (replica.items.get(edited)?.version === before) faults.push(`${edited} was asked for and did not arrive.`);
    if (itemsOf(events).some(({ externalId }) => externalId === gone)) faults.push(`${gone} is gone and was named.`);
    // A part may come with what it is a part of.
    const isAsked = (id: string | undefined, depth = 0): boolean =>
      id === edited ||
      id === gone ||
      (id !== undefined && depth < 16 && isAsked(replica.items.get(id)?.partOf, depth + 1));
    const unasked = events.flatMap(namedIn).filter((id) => !isAsked(id));
    if (unasked.length > 0) faults.push(`A run over two items named ${unasked.slice(0, 3).join(", ")} as well.`);
    const lost = others.filter((id) => !replica.items.has(id));
    if (lost.length > 0) faults.push(`A run over two items removed ${lost.slice(0, 3).join(", ")}.`);
    return faults;
  },
};

export const browse: SourceCheck = {
  id: "browse",
  title: "browse gives places with ids and titles, page by page to an end, and its ids make a scope",
  isReading: true,
  async run(fixture) {
    const { source } = fixture;
    if (source.browse === undefined) return [];
    const found: string[] = [];
    const faults: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const at = { parent: null, ...(cursor !== undefined && { cursor }) };
      const { nodes, nextCursor } = await source.browse(contextOf(fixture), at);
      for (const { id, title, selectable } of nodes) {
        if (id === "" || title.trim() === "")
          faults.push(`A place has the id ${JSON.stringify(id)} and the title ${JSON.stringify(title)}.`);
        if (found.includes(id)) faults.push(`The place ${id} was given twice.`);
        if (selectable) found.push(id);
      }
      if (nextCursor === null) break;
      if (pages === MOST_PAGES - 1) faults.push(`There is no end after ${MOST_PAGES} pages.`);
      cursor = nextCursor;
    }
    const [one, all] = [makeReplica(), makeReplica()];
    await runInto(fixture, one, { scope: { include: found.slice(0, 1), exclude: [] } });
    await runInto(fixture, all, { scope: { include: found, exclude: [] } });
    const lost = [...one.items.keys()].filter((id) => !all.items.has(id));
    return [...faults, ...lost.map((id) => `${id} is in the place ${found[0]}, and not in all of the places.`)];
  },
};

export const abort: SourceCheck = {
  id: "abort",
  title: "an aborted run returns and does not claim to be complete",
  isReading: true,
  async run(fixture) {
    const controller = new AbortController();
    const running = runInto(fixture, makeReplica(), {
      signal: controller.signal,
      onEvent: () => controller.abort(),
    }).catch((error: unknown) => error);
    const outcome = await Promise.race([running, delay(abortMsOf(fixture), "late", { ref: false })]);
    if (outcome === "late") return ["The run went on after it was aborted."];
    if (!(typeof outcome === "object" && outcome !== null && "events" in outcome)) return [];
    const { events } = await readAll(fixture);
    const named = Array.isArray(outcome.events) ? outcome.events : [];
    const claimsAll = named.some((event) => event.t === "end" && event.listing === "complete");
    return claimsAll && named.length < events.length ? ["An aborted run said that it was complete."] : [];
  },
};

const MOST_PAGES = 20;

/** Event types that name items. */
const CARRIES_ITEMS: ReadonlySet<SyncEvent["t"]> = new Set(["upsert", "access", "delete", "seen"]);
