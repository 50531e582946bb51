import { describe, test, vi } from "vitest";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import type { Kind } from "./kinds.ts";
import { type ActorName, openKinds } from "./kinds-server.ts";
import { playKinds, type Step, STEPS } from "./kinds-history.ts";
import type { Twist } from "./marked-source.ts";

// Several remotes are read and asked about many times: a shared machine may take its time.
vi.setConfig({ testTimeout: 600_000 });

interface Size {
  kinds: readonly Kind[];
  /** Who asks; everybody unless told. */
  actors?: readonly ActorName[];
  steps?: readonly Step[];
  rounds?: number;
  /** Asks only what shows items. */
  isShort?: boolean;
  /** Answers that are searched at least. */
  checks: number;
}

export function describeKinds(name: string, size: Size): void {
  const { kinds, actors, steps = Object.values(STEPS), rounds = 1, isShort = false, checks } = size;
  describe(`the real sources of ${name}`, () => {
    test("show everyone what they may read at the remotes, and not a word of anything else, whatever changes there", async ({
      expect,
    }) => {
      const server = await openKinds(kinds);
      const { count, faults } = await playKinds(server, { seed: 1, rounds, steps, isShort, ...(actors && { actors }) });
      expect(faults).toEqual([]);
      expect(count.leaks).toEqual([]);
      expect(count.checks).toBeGreaterThan(checks);
      expect(count.speaking.size).toBeGreaterThan(6);
    });
  });
}

const WITH_PEOPLE = ["github", "google-drive", "slack", "confluence", "jira"];

interface Fault {
  what: string;
  steps: readonly Step[];
  /** The kinds whose source can have it. */
  of: readonly string[];
  twist: () => Twist;
}

/** As sources are really wrong. */
const FAULTS: readonly Fault[] = [
  {
    what: "everyone is in every group",
    steps: [],
    of: WITH_PEOPLE,
    twist: () =>
      inBoth((event) => (event.t === "group" ? { ...event, members: [...event.members, "everyone"] } : event)),
  },
  {
    what: "of several lists only the first counts",
    steps: [],
    of: ["google-drive", "confluence", "jira"],
    twist: () => changed(({ known, ...rest }) => withLists(known, rest, (all) => all.slice(0, 1))),
  },
  {
    what: "groups stay as they were first told",
    steps: [STEPS.access],
    of: WITH_PEOPLE,
    twist() {
      const first = new Map<string, readonly string[]>();
      return inBoth((event) => {
        if (event.t === "member") return undefined;
        if (event.t !== "group") return event;
        const members = first.get(event.group) ?? event.members;
        first.set(event.group, members);
        return { ...event, members };
      });
    },
  },
  {
    what: "a refusal is kept quiet",
    steps: [STEPS.refused],
    // Confluence closes the group of a space that is refused by not naming it.
    of: ["github", "google-drive", "slack", "jira"],
    twist() {
      const kept: Extract<SyncEvent, { t: "refused" }>["what"][] = [];
      return inSync((event) => {
        if (event.t === "refused") kept.push(event.what);
        if (event.t === "refused") return undefined;
        return event.t === "end" ? { ...event, notLookedAt: [...(event.notLookedAt ?? []), ...kept] } : event;
      });
    },
  },
  {
    what: "everyone reads, not only the readers of the config",
    steps: [],
    of: ["notion", "s3", "imap", "web"],
    twist: () => changed(() => ({ known: true, all: [["workspace"]] })),
  },
];

function withLists(
  known: boolean,
  { all = [] }: { all?: readonly (readonly string[])[] },
  change: (all: readonly (readonly string[])[]) => readonly (readonly string[])[],
): SourceAccess {
  return known ? { known, all: change(all).map((list) => [...list]) } : { known: false };
}

/** Every access is another one. */
function changed(change: (access: SourceAccess) => SourceAccess): Twist {
  return inSync((event) => {
    if (event.t === "access") return { ...event, access: change(event.access) };
    if (event.t !== "upsert" || event.item.access === undefined) return event;
    return { ...event, item: { ...event.item, access: change(event.item.access) } };
  });
}

type Shared = Extract<SyncEvent, { t: "group" | "member" }>;

/** What a fault makes of each thing that is told; undefined = it is not told. */
function inSync(change: (event: SyncEvent) => SyncEvent | undefined): Twist {
  return {
    async *sync(events) {
      for await (const event of events) {
        const now = change(event);
        if (now) yield now;
      }
    },
  };
}

function inBoth(change: (event: Shared) => Shared | undefined): Twist {
  return {
    ...inSync((event) => (event.t === "group" || event.t === "member" ? change(event) : event)),
    async *identities(events) {
      for await (const event of events) {
        const now: IdentityEvent | undefined = event.t === "group" || event.t === "member" ? change(event) : event;
        if (now) yield now;
      }
    },
  };
}

export function describePlantedKinds(kinds: readonly Kind[]): void {
  describe("the test of real sources", () => {
    test.for(FAULTS.map((fault) => [fault.what, fault] as const))(
      "goes red where %s",
      async ([, fault], { expect }) => {
        const { of, steps, twist } = fault;
        const server = await openKinds(
          kinds.filter(({ name }) => of.includes(name)),
          { twist: () => twist() },
        );
        const { count, faults } = await playKinds(server, { seed: 1, rounds: 1, steps, isShort: true });
        expect(count.leaks.length).toBeGreaterThan(0);
        const seen = await server.kindsIn([...faults, ...count.leaks].join("\n"));
        expect([...seen].sort()).toEqual([...of].sort());
      },
    );
  });
}
