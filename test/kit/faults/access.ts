import type { SourceItem } from "#sources/item.ts";
import { CONNECTOR_ID } from "../fixture.ts";
import { principalsOf } from "#sources/principals.ts";
import { type Faults, naming, onItems, onPeople, type Told, toldInSync, withReaders } from "./plant.ts";

/** Faults in who may read. */
export const ACCESS: Faults = {
  "items say nothing of access": {
    caughtBy: "access",
    // What a source in plain JavaScript, or one that trusts a reply, would hand over.
    plant: (source) => onItems(source, (item) => ({ ...item, access: JSON.parse("{}") })),
  },
  "an access without a list": {
    caughtBy: "access",
    plant: (source) => onItems(source, (item) => ({ ...item, access: { known: true, all: [] } })),
  },
  "another connector's group": {
    caughtBy: "access",
    plant: (source) => onItems(source, naming("group:con_bbbbbbbbbbbbbbbb:space")),
  },
  "all who have the connector": {
    caughtBy: "access",
    plant: (source) => onItems(source, naming(`group:connector:${CONNECTOR_ID}`)),
  },
  "the workspace instead of the group": { caughtBy: "access", plant: (source) => onItems(source, naming("workspace")) },
  "every item is no one's": {
    caughtBy: "readers",
    plant: (source) => onItems(source, (item) => ({ ...item, access: { known: false } })),
  },
  "access changes are never told again": {
    caughtBy: "access-changes",
    plant: (source) => ({
      async *syncIdentities(ctx, run) {
        if (run.mode === "whole") yield* source.syncIdentities(ctx, run);
        else yield { t: "end", listing: "partial" };
      },
    }),
  },
  "people never end": {
    caughtBy: "people-end",
    plant: (source) => onPeople(source, (event) => (event.t === "end" ? [{ t: "end", listing: "partial" }] : [event])),
  },
  "a group that is gone is the same": {
    caughtBy: "groups-end",
    plant: (source) => {
      const known = new Set<string>();
      return onPeople(source, (event) => {
        if (event.t === "group") known.add(event.group);
        return event.t === "end" ? [{ t: "group_same", groups: [...known] }, event] : [event];
      });
    },
  },
  "a stale delta is replayed": {
    caughtBy: "people-changes",
    plant: (source) => {
      const former: Told[] = [];
      return {
        async *syncIdentities(ctx, run) {
          for await (const event of source.syncIdentities(ctx, run)) {
            if (event.t === "end" && run.mode === "changes") yield* former;
            if (event.t === "group")
              former.push(...event.members.map((member) => ({ t: "member" as const, group: event.group, member })));
            yield event;
          }
        },
      };
    },
  },
  "readers are named one by one": {
    caughtBy: "access",
    plant: (source, { provider }) => ({
      async *sync(ctx, run) {
        const nameOf = principalsOf(ctx, "reference").user;
        const named = ({ externalId, partOf, ...item }: SourceItem): SourceItem => ({
          ...item,
          externalId,
          ...(partOf !== undefined
            ? { partOf }
            : { access: { known: true, all: [provider.readersOf(externalId).map(nameOf)] } }),
        });
        for await (const event of source.sync(ctx, run))
          yield event.t === "upsert" ? { t: "upsert", item: named(event.item) } : event;
      },
    }),
  },
  "anyone who may sign in is everyone": {
    caughtBy: "readers",
    plant: (source, { provider }) => ({
      async *syncIdentities(ctx, run) {
        const all = provider.people().length;
        for await (const event of source.syncIdentities(ctx, run))
          yield event.t === "group" && event.members.length === all
            ? { ...event, members: [...event.members, "everyone"] }
            : event;
      },
    }),
  },
  "everyone beside the readers of the configuration": {
    caughtBy: "readers",
    plant: (source) => ({
      ...onItems(source, (item) => ({ ...item, access: { known: true, all: [["workspace", "everyone"]] } })),
      spec: { ...source.spec, acl: "connector" },
    }),
  },
  "the key that names readers is not in namedIn": { caughtBy: "named-readers", plant: (source) => withReaders(source) },
  "the key that names readers is for show": {
    caughtBy: "named-readers",
    plant: (source) => {
      const { spec, ...rest } = withReaders(source);
      return { ...rest, ...onItems(source, naming("workspace")), spec: { ...spec, namedIn: ["readers"] } };
    },
  },
  "a group that is told between items is never told again": {
    caughtBy: "access-changes",
    plant: (source) => toldInSync(source, (run) => run.cursor === null),
  },
  "a stranger among the members of a group": {
    caughtBy: "readers",
    // Nobody but a stranger: who is dropped leaves nobody.
    plant: (source) =>
      onPeople(source, (event) => [event.t === "group" ? { ...event, members: ["user:slack:T1:U1"] } : event]),
  },
};
