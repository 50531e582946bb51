/** What happens at the remotes of all kinds, and what is asked after each of it. */
import { type Asking, fixed, askForLeaks, noLeaks, OF_CONNECTOR, put, type LeakCount } from "./compare.ts";
import { ACTORS, marksIn, type ActorName, type KindsServer } from "./kinds-server.ts";
import { makeRandom, type Random } from "./model.ts";
import { ask, READS_ITEMS, surface, type Question } from "./requests.ts";

export interface Step {
  what: string;
  act(server: KindsServer): Promise<unknown>;
}

/** In this time every group is looked at. */
const PASS_MS = 13 * 3_600_000;

/** In this order each is possible; a permission that changes alone comes first. */
export const STEPS = {
  access: {
    what: "who may read changed, and nothing else",
    async act(server) {
      for (const { fixture } of server.all) await fixture.changeAccess?.();
      await server.turnReaders();
      await server.read();
    },
  },
  moved: {
    what: "items moved to where others read",
    async act(server) {
      for (const { fixture } of server.all) await fixture.moveItem?.();
      await server.read();
    },
  },
  content: {
    what: "items came, changed and went",
    async act(server) {
      for (const { fixture } of server.all) {
        await fixture.add();
        await fixture.edit();
        await fixture.remove();
      }
      await server.read();
      // Not every feed tells what is gone.
      await server.read("full");
    },
  },
  person: {
    what: "someone left",
    async act(server) {
      for (const { fixture } of server.all) await fixture.removePerson?.();
      await server.pass(PASS_MS);
      await server.read();
    },
  },
  group: {
    what: "a group ended",
    async act(server) {
      for (const { fixture } of server.all) await fixture.removeGroup?.();
      await server.pass(PASS_MS);
      await server.read();
    },
  },
  refused: {
    what: "a container is refused",
    async act(server) {
      for (const each of server.all)
        if (each.fixture.source.spec.acl !== "connector") each.failing = await each.fixture.fail?.("one_container");
      await server.read("full");
    },
  },
  healed: {
    what: "nothing is refused any more",
    async act(server) {
      for (const each of server.all) {
        await each.failing?.heal();
        each.failing = undefined;
      }
      await server.read("full");
    },
  },
} as const satisfies Record<string, Step>;

/** Another order for each seed; what ends for good comes last. */
export function shuffledSteps(random: Random): Step[] {
  const { access, moved, content, person, group, refused, healed } = STEPS;
  const left: Step[][] = [[access], [moved], [content], [access], [moved], [refused, healed]];
  const steps: Step[] = [];
  while (left.length > 0) steps.push(...(left.splice(random.int(left.length), 1)[0] ?? []));
  return [...steps, person, group];
}

interface Options {
  seed: number;
  rounds: number;
  steps: readonly Step[];
  /** Who asks; everybody unless told. */
  actors?: readonly ActorName[];
  /** Asks only what shows items. */
  isShort?: boolean;
  isEnough?: number;
}

export interface Findings {
  count: LeakCount;
  /** Lists, searches and counts that are not what may be read at the remotes, and answers that what is hidden changed. */
  faults: string[];
}

/** Asks at first and after each step. */
export async function playKinds(server: KindsServer, options: Options): Promise<Findings> {
  const { seed, rounds, steps, actors = ACTORS, isShort = false, isEnough } = options;
  const findings: Findings = { count: noLeaks(), faults: [] };
  const size = { rounds, isShort, ...(isEnough !== undefined && { isEnough }) };
  const logged = new Map(actors.map((name) => [name, new Set<string>()]));
  const check = async (what: string, at: number) => {
    const view = await server.look();
    for (const name of actors) {
      for (const { kbId } of name === "owner" ? view.living : (view.readable.get(name) ?? []))
        logged.get(name)?.add(kbId);
      const random = makeRandom(seed * 1_000 + at * 10 + ACTORS.indexOf(name));
      const words = await server.vocabulary(name, view, random);
      const allowed = await server.allowedMarks(name, view);
      const asking: Asking = { name: `${what}: ${name}`, client: server.clientOf(name), allowed, marksIn, words };
      const known = logged.get(name);
      await askForLeaks({ ...asking, ...(known && { logged: known }) }, findings.count, size);
      findings.faults.push(...(await setFaults(server, name, view)).map((fault) => `${what}: ${fault}`));
    }
    return view;
  };
  let before = await check("at first", 0);
  for (const [at, { what, act }] of steps.entries()) {
    if (findings.count.leaks.length >= (isEnough ?? Infinity)) break;
    const questions = new Map<ActorName, Question[]>();
    for (const name of actors) questions.set(name, await questionsOf(server, name, before, seed + at));
    const answers = new Map<ActorName, string[]>();
    for (const [name, asked] of questions) answers.set(name, await answersTo(server, name, asked));
    await act(server);
    const after = await check(what, at + 1);
    for (const [name, asked] of questions) {
      if (name === "owner" || viewOf(before, name) !== viewOf(after, name)) continue;
      const now = await answersTo(server, name, asked);
      for (const [i, text] of now.entries()) {
        const former = answers.get(name)?.[i] ?? "";
        if (text === former) continue;
        const at = [...text].findIndex((letter, place) => letter !== former[place]);
        const shown = [former, text].map((each) => each.slice(Math.max(0, at - 60), at + 60)).join(" | ");
        findings.faults.push(`${what}: ${name} ${JSON.stringify(asked[i])}: ${shown}`);
      }
    }
    before = after;
  }
  return findings;
}

type View = Awaited<ReturnType<KindsServer["look"]>>;

/** All that somebody may know of, as one text. */
function viewOf({ readable }: View, name: ActorName): string {
  return JSON.stringify(readable.get(name));
}

async function questionsOf(server: KindsServer, name: ActorName, view: View, seed: number): Promise<Question[]> {
  const words = await server.vocabulary(name, view, makeRandom(seed));
  return surface()
    .filter((route) => READS_ITEMS.test(route) && !OF_CONNECTOR.test(route.replace(/^\w+ /, "")))
    .flatMap((route) => [ask(route, words) ?? [], ask(route, words) ?? []].flat());
}

const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d \w{3} \d\d:\d\d UTC|\((today|yesterday|[^()]*days[^()]*)\)/g;
const CURSORS = /(cursor=?[\\":]+)[\w-]{28}/gi;

async function answersTo(server: KindsServer, name: ActorName, questions: readonly Question[]): Promise<string[]> {
  const answers: string[] = [];
  for (const question of questions) {
    const text = fixed(await put(server.clientOf(name), question), question.route);
    // Times are of when somebody looked, and of now; a cursor is signed for its day, which may have ended.
    answers.push(text.replaceAll(TIMES, "").replaceAll(CURSORS, "$1"));
  }
  return answers;
}

/** What lists, searches and counts show, where it is not what may be read at the remotes. */
async function setFaults(server: KindsServer, name: ActorName, { readable }: View): Promise<string[]> {
  const client = server.clientOf(name);
  const wanted = (readable.get(name) ?? []).map(({ kbId }) => kbId).sort();
  const faults: string[] = [];
  const list = await client.get("/api/connectors/all-files?limit=200");
  if (list.status === 401) return wanted.length === 0 ? [] : [`${name} is not let in`];
  const ids: string[] = list.json.files.map(({ kbId }: { kbId: string }) => kbId);
  const differing = [...wanted.filter((id) => !ids.includes(id)), ...ids.filter((id) => !wanted.includes(id))];
  const titles = (readable.get(name) ?? []).concat(list.json.files);
  if (differing.length > 0)
    faults.push(
      `the list of ${name} has ${ids.length} of ${wanted.length}: ${differing.map((id) => titles.find(({ kbId }) => kbId === id)?.title)}`,
    );
  const found = (await client.get("/api/connectors/search?query=cnry*&limit=1")).json;
  if (found.total !== list.json.total) faults.push(`a search of ${name} has ${found.total} of ${wanted.length}`);
  const { counts } = (await client.get("/api/connectors/file-counts-by-source")).json;
  const sum = counts.reduce((all: number, each: Counts) => all + each.indexed + each.unsearchable, 0);
  if (sum !== wanted.length) faults.push(`counts of ${name} are ${sum} of ${wanted.length}`);
  return faults;
}

interface Counts {
  indexed: number;
  unsearchable: number;
}
