import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { listsIn, type RecordList, type Rewrite } from "./answers.ts";
import { failureOf, namedIn, readAll, type SourceCheck } from "./check.ts";
import type { KitFixture } from "./fixture.ts";
import { copyReplica, makeReplica, type Replica, runInto } from "./replica.ts";

/** What a record is known by; the rest of it can be anything. */
const NAMES = new Set(["id", "ts", "event_id", "fileId", "number", "node_id", "object", "type"]);

type Spoil = (record: unknown) => unknown;

const isName = ({ idKeys = [] }: KitFixture, key: string): boolean => NAMES.has(key) || idKeys.includes(key);

const rest = (fixture: KitFixture, value: unknown): Spoil => {
  const spoil = ([key, own]: [string, unknown]) => [key, isName(fixture, key) ? own : value];
  return (record) => Object.fromEntries(Object.entries(record as object).map(spoil));
};

/** Shapes that no source expects. */
const shapesOf = (fixture: KitFixture): Readonly<Record<string, Spoil>> => ({
  "whose fields are null": rest(fixture, null),
  "whose fields are objects": rest(fixture, { odd: true }),
  "that is null": () => null,
  "that is text": () => "odd",
  "whose id is an object": (record) => {
    const ids = ["id", "ts", "event_id", "fileId", ...(fixture.idKeys ?? [])].map((key) => [key, { odd: true }]);
    return { ...(record as object), ...Object.fromEntries(ids) };
  },
});

export const oddRecord: SourceCheck = {
  id: "odd-record",
  title: "a record of a shape that the source doesn't know takes no item away, and all others are read",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
    const faults: string[] = [];
    for (const kind of await kindsOf(fixture, replica)) {
      for (const [shape, spoil] of Object.entries(shapesOf(fixture))) {
        const spoilt = new Set<string>();
        const rewrite: Rewrite = inLists(kind, ({ records, names }) => {
          const at = Math.floor(records.length / 2);
          for (const name of [...names, ...namesOf(fixture, records[at])]) spoilt.add(name);
          records[at] = spoil(records[at]);
        });
        const what = `A record of ${kind} ${shape}`;
        faults.push(...(await lossFaults(fixture, replica, rewrite, what)));
        faults.push(...(await othersFaults(fixture, replica, { rewrite, spoilt, what })));
      }
    }
    return faults;
  },
};

/** What a record calls itself. */
function namesOf(fixture: KitFixture, record: unknown): string[] {
  return Object.entries(record as object).flatMap(([key, value]) =>
    key !== "type" && key !== "object" && isName(fixture, key) ? [String(value)] : [],
  );
}

/** Items that a first run over such answers doesn't read, though they have nothing to do with what was spoilt. */
export async function othersFaults(
  fixture: KitFixture,
  all: Replica,
  { rewrite, spoilt, what }: { rewrite: Rewrite; spoilt: ReadonlySet<string>; what: string },
): Promise<string[]> {
  const replica = makeReplica();
  const error = await failureOf(runInto({ ...fixture, rewrite }, replica));
  if (error !== undefined) return [`${what} ends the run: ${String(error)}`];
  const missing = [...all.items.values()].filter((item) => !replica.items.has(item.externalId) && !isOf(item, spoilt));
  return missing.length > 0
    ? [
        `${what} hides ${missing
          .slice(0, 3)
          .map(({ externalId }) => externalId)
          .join(", ")}.`,
      ]
    : [];
}

/** Whether an item is what was spoilt, or in it. */
function isOf(item: SourceItem, spoilt: ReadonlySet<string>): boolean {
  const text = JSON.stringify(item);
  return [...spoilt].some((name) => {
    const edge = /^\d+$/.test(name) ? "\\d" : "\\w";
    return new RegExp(`(?<!${edge})${name.replaceAll(/[^\w-]/g, "\\$&")}(?!${edge})`).test(text);
  });
}

/** Keys that say whether a listing goes on, and what none of them means. */
const MARKS = ["has_more", "next_cursor", "nextPageToken", "isLast", "incompleteSearch", "hasNextPage", "next", "end"];
const ODD_MARKS: readonly unknown[] = [5, "true", { odd: true }, []];

export const oddEnd: SourceCheck = {
  id: "odd-end",
  title: "a mark of the end that the source doesn't know is none: what comes after it is not taken for gone",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
    const faults: string[] = [];
    for (const [kind, marks] of await marksOf(fixture, replica)) {
      for (const mark of marks) {
        for (const odd of ODD_MARKS) {
          const cut: Rewrite = inLists(kind, ({ records, holder }) => {
            records.length = Math.ceil(records.length / 2);
            setMark(holder, mark, odd);
          });
          const what = `A listing of ${kind} that ends with ${mark}: ${JSON.stringify(odd)}`;
          faults.push(...(await lossFaults(fixture, replica, cut, what)));
        }
      }
    }
    return faults;
  },
};

export const oneAsked: SourceCheck = {
  id: "one-asked",
  title: "an item that was asked for and can't be read stays as it is, and the others that were asked for are read",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
    const ids = [...replica.items.values()].filter(({ partOf }) => partOf === undefined).map((item) => item.externalId);
    const [first, ...others] = ids.slice(0, 3);
    if (first === undefined || others.length === 0) return [];
    const asked = await askedFor(fixture, replica, [first]);
    for (const url of await askedFor(fixture, replica, others)) asked.delete(url);
    const faults: string[] = [];
    for (const [what, answer] of Object.entries(BAD_ANSWERS)) {
      const rewrite: Rewrite = (url, value) => (asked.has(url) ? answer() : value);
      faults.push(
        ...(await askedFaults({ ...fixture, rewrite }, replica, { first, others, what, isAsked: asked.size > 0 })),
      );
    }
    return faults;
  },
};

export const BAD_ANSWERS: Readonly<Record<string, () => unknown>> = {
  "something else": () => ({ odd: true }),
  null: () => null,
  "HTTP 500": () => {
    throw new ApiError("source_unavailable", { message: "The remote fails (HTTP 500).", details: { status: 500 } });
  },
};

/** The addresses that a run for these items asks for. */
async function askedFor(fixture: KitFixture, replica: Replica, externalIds: readonly string[]): Promise<Set<string>> {
  const urls = new Set<string>();
  const rewrite: Rewrite = (url, value) => (urls.add(url), value);
  await runInto({ ...fixture, rewrite }, copyReplica(replica), { mode: "items", externalIds });
  return urls;
}

async function askedFaults(
  fixture: KitFixture,
  before: Replica,
  { first, others, what, isAsked }: { first: string; others: readonly string[]; what: string; isAsked: boolean },
): Promise<string[]> {
  const replica = copyReplica(before);
  const told = new Set<string>();
  const onEvent = (event: SyncEvent) => {
    for (const id of namedIn(event)) told.add(id);
  };
  const error = await failureOf(runInto(fixture, replica, { mode: "items", externalIds: [first, ...others], onEvent }));
  if (error !== undefined) return [`${what} for one item ends the run: ${String(error)}`];
  const missing = others.filter((id) => !told.has(id));
  return [
    ...(isAsked && !replica.items.has(first) ? [`${what} for one item takes it away.`] : []),
    ...(missing.length > 0 ? [`${what} for one item hides others: ${missing.join(", ")}.`] : []),
  ];
}

/** What is gone after a run over such answers. A run may fail, and be tried again; what it took away is away. */
export async function lossFaults(
  fixture: KitFixture,
  before: Replica,
  rewrite: Rewrite,
  what: string,
): Promise<string[]> {
  const replica = copyReplica(before);
  const error = await failureOf(runInto({ ...fixture, rewrite }, replica));
  const lost = [...before.items.keys()].filter((id) => !replica.items.has(id));
  if (error !== undefined && !isApiError(error)) return [`${what} is a fault of the program: ${String(error)}`];
  return lost.length > 0 ? [`${what} takes away ${lost.slice(0, 3).join(", ")}.`] : [];
}

function inLists(kind: string, change: (list: RecordList) => void): Rewrite {
  return (url, value) => {
    for (const list of listsIn(url, value)) if (list.kind === kind) change(list);
    return value;
  };
}

async function kindsOf(fixture: KitFixture, replica: Replica): Promise<string[]> {
  return [...(await listsOf(fixture, replica)).keys()];
}

/** The marks of each kind of list. */
async function marksOf(fixture: KitFixture, replica: Replica): Promise<[string, string[]][]> {
  const own = Object.entries(fixture.endMarks ?? {});
  return [...(await listsOf(fixture, replica))].map(([kind, holder]) => [
    kind,
    [
      ...new Set([
        ...MARKS.filter((mark) => holder !== undefined && mark in holder),
        ...own.flatMap(([list, mark]) => (kind.includes(list) ? [mark] : [])),
      ]),
    ],
  ]);
}

async function listsOf(fixture: KitFixture, replica: Replica): Promise<Map<string, RecordList["holder"]>> {
  const found = new Map<string, RecordList["holder"]>();
  const note: Rewrite = (url, value) => {
    for (const { kind, holder } of listsIn(url, value)) found.set(kind, holder);
    return value;
  };
  await runInto({ ...fixture, rewrite: note }, copyReplica(replica));
  return found;
}

/** @param mark  a key, or two with a dot in between for one inside another */
function setMark(holder: Record<string, unknown> | undefined, mark: string, odd: unknown): void {
  if (!holder) return;
  const [key = "", inner] = mark.split(".");
  if (inner === undefined) holder[key] = odd;
  else holder[key] = { ...(holder[key] as object | undefined), [inner]: odd };
}
