/** A real source all of whose words are marked: each item, container and person by a word that nothing else has. */
import { runsOf } from "#server/sync/run/run-session.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent, SourceItem, SourcePerson } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { scripted } from "../scripted.ts";
import { canaryFor } from "./model.ts";

/** What a source has said of an item, as marks: who may read the item may see them. */
export interface Marks {
  ofItem(externalId: string): ReadonlySet<string>;
  /** Of everybody whom it named, in an item or by themselves. */
  people: ReadonlySet<string>;
  ofPerson(principal: string): string;
}

/** What a planted fault makes of what a source says. */
export interface Twist {
  sync?(events: AsyncIterable<SyncEvent>): AsyncIterable<SyncEvent>;
  identities?(events: AsyncIterable<IdentityEvent>): AsyncIterable<IdentityEvent>;
}

export function markSource(real: Source, name: string, twist: Twist = {}): { source: Source; marks: Marks } {
  const items = new Map<string, ReadonlySet<string>>();
  const people = new Set<string>();
  const markOf = (what: string) => canaryFor(`${name} ${what}`);
  const personMark = (key: string) => {
    const mark = markOf(`person ${key}`);
    people.add(mark);
    return mark;
  };
  function marked(item: SourceItem): SourceItem {
    const own = markOf(`item ${item.externalId}`);
    const shown = new Set([own]);
    const add = (mark: string) => (shown.add(mark), mark);
    const person = (each: SourcePerson): SourcePerson => ({
      ...each,
      name: `${each.name} ${add(personMark(each.principal ?? each.login ?? each.email ?? each.name))}`,
    });
    const { author, assignees, people: others, containers, path, content } = item;
    items.set(item.externalId, shown);
    return {
      ...item,
      // A name's ending stays at its end.
      title: `${own} ${item.title}`,
      labels: [...(item.labels ?? []), own],
      ...(author && { author: person(author) }),
      ...(assignees && { assignees: assignees.map(person) }),
      ...(others && { people: others.map(person) }),
      ...(path && { path: [...path, own] }),
      ...(containers && {
        containers: containers.map((each) => ({
          ...each,
          name: `${each.name} ${add(markOf(`${each.type} ${each.id}`))}`,
        })),
      }),
      ...(content.type === "inline" && { content: { type: "inline", text: `${content.text}\n\n${own} end.` } }),
    };
  }
  const runs = runsOf(real);
  const { syncIdentities, fetchContent } = real;
  const source: Source = {
    ...real,
    ...(runs && {
      sessions: scripted(async function* (ctx, run) {
        const events = runs(ctx, run);
        for await (const event of twist.sync?.(events) ?? events) {
          if (event.t === "upsert") yield { ...event, item: marked(event.item) };
          else yield event.t === "identity" ? named(event) : event;
        }
      }),
    }),
    ...(syncIdentities && {
      async *syncIdentities(ctx, run) {
        const events = syncIdentities.call(real, ctx, run);
        for await (const event of twist.identities?.(events) ?? events)
          yield event.t === "identity" ? named(event) : event;
      },
    }),
    ...(fetchContent && {
      async fetchContent(ctx, item): Promise<FileContent> {
        const given = await fetchContent.call(real, ctx, item);
        const pieces: Uint8Array[] = [];
        for await (const piece of given.stream ?? [given.bytes]) pieces.push(piece);
        const { stream: _stream, ...rest } = given;
        return {
          ...rest,
          bytes: Buffer.concat([...pieces, Buffer.from(`\n\n${markOf(`item ${item.externalId}`)} end.`)]),
        };
      },
    }),
  };
  function named<E extends Extract<IdentityEvent, { t: "identity" }>>(event: E): E {
    return { ...event, name: `${event.name ?? "Somebody"} ${personMark(event.principal)}` };
  }
  return {
    source,
    marks: {
      ofItem: (externalId) => items.get(externalId) ?? new Set(),
      people,
      ofPerson: (principal) => markOf(`person ${principal}`),
    },
  };
}
