/** What sources whose permissions are mirrored add to a random world, and what of it somebody can't see. */
import type { Principal, SourceAccess } from "#core/principals.ts";
import {
  HOUR_MS,
  type Look,
  type Mirror,
  type MirrorGroup,
  type MirrorUser,
  type Outcome,
  type Round,
  sourceGroup,
  sourceUser,
  type Told,
} from "./mirror.ts";
import {
  canaryFor,
  idFor,
  makeRandom,
  mayRead,
  NOW,
  user,
  type Model,
  type ModelConnector,
  type ModelItem,
  type Persona,
  type Random,
} from "./model.ts";
import { connector, makeItem, twinOf } from "./things.ts";

/** Every source is asked twice: what it says the first time alone is not believed any more when the questions come. */
const ASKED_AT = [NOW - 30 * HOUR_MS, NOW - 2 * HOUR_MS] as const;
/** More than go without anybody's consent. */
const MANY = 22;

type Names = Record<string, Principal>;

const idCanaryOf = (name: string) => canaryFor(`id ${name}`);
const idOf = (name: string) => `${name}-${idCanaryOf(name)}`;

/** Whom a persona is in the world that has more in it. Nobody links them by hand: they are told, and would see that the worlds differ. */
const GHOST = sourceUser(idOf("ghost"));

function person(name: string, first: Told<"active">, second: MirrorUser["told"][number], email: string | null = null) {
  const canaries = { canary: canaryFor(`source ${name}`), idCanary: idCanaryOf(name) };
  return { user: sourceUser(idOf(name)), email, ...canaries, told: [first, second] } satisfies MirrorUser;
}

function group(
  connectorId: string,
  name: string,
  first: readonly Principal[],
  second: MirrorGroup["told"][number],
  space: string | null = null,
): MirrorGroup {
  return { group: sourceGroup(connectorId, idOf(name)), canary: idCanaryOf(name), space, told: [first, second] };
}

function mirrorOf(outcomes: readonly Outcome[], tellsGroupsIn: Mirror["tellsGroupsIn"]): Mirror {
  const rounds = outcomes.map((outcome, at): Round => {
    const isAnswer = outcome !== "unavailable" && outcome !== "unauthorized";
    const spaces: Round["spaces"] = at === 0 ? {} : { shut: "refused", far: "not_looked_at", gone: "gone" };
    return { at: ASKED_AT[at] ?? NOW, outcome, spaces, isHeard: true, people: isAnswer ? "whole" : null };
  });
  return { rounds, tellsGroupsIn, groups: [], users: [] };
}

const OURS: Record<string, Persona> = { in: "inside", out: "outside", own: "owner", rem: "removed" };
/** Joined as well: `late` on a word that has grown old, `twice` on the younger word of a second connector, `quit` no more. */
const FURTHER: Record<string, Persona> = { late: "outside", twice: "inside", quit: "outside" };

/** Behind each of these groups and people is an item, whatever the dice say. */
const SURE = ["team", "deep", "ringB", "public", "own", "out", "twice", "barred"];

/** Four mirrored sources, of whose groups everybody is in some; the owner of one has left. Changes the model. */
export function addMirrors(model: Model): Model {
  const random = makeRandom(model.seed ^ 0x31_44_0e);
  const wiki = connector("wiki", "one", "mirror", "source", "owner", []);
  const forge = connector("forge", "one", "mirror", "members", "owner", ["inside", "removed"]);
  const feed = connector("feed", "one", "mirror", "source", "owner", []);
  const orphan = { ...connector("orphan", "one", "mirror", "source", "removed", []), isOrphan: true };
  wiki.mirror = mirrorOf(["proof", "proof"], "identities");
  forge.mirror = mirrorOf(["proof", "partial"], "sync");
  feed.mirror = mirrorOf(["proof", "feed"], "sync");
  orphan.mirror = mirrorOf(["proof", "proof"], "sync");
  const users = [
    ...Object.entries(OURS).map(([name, persona]) =>
      person(name, "active", "active", name === "out" ? `${persona}@acme.test` : null),
    ),
    person("late", "active", "not_looked_at"),
    person("twice", "active", "not_looked_at"),
    person("quit", "active", "suspended"),
    person("other", "active", "active"),
  ];
  wiki.mirror.users = users;
  forge.mirror.users = [person("in", "active", "active"), person("twice", "active", "active")];
  for (const [name, persona] of Object.entries({ ...OURS, ...FURTHER })) {
    model.joins.set(sourceUser(idOf(name)), persona);
  }
  model.linked = new Map([...model.joins].filter(([, persona]) => persona === "inside"));
  model.connectors.push(wiki, forge, feed, orphan);
  for (const where of [wiki, forge, feed, orphan]) {
    const names = addGroups(where);
    const sure = SURE.map((name) => [[names[name] ?? ""]]);
    const wanted = where === wiki || where === forge ? 12 + sure.length : sure.length;
    for (let i = 0; i < wanted; i++) {
      const all = sure[i];
      const access = all ? { known: true as const, all } : anyAccess(random, names);
      const name = `${model.seed} ${where.name} ${i}`;
      model.items.push(makeMirrored(random, { name, where, access, model, names, isSure: all !== undefined }));
    }
  }
  return model;
}

/** Groups of every kind; gives all that its items may name. */
function addGroups(where: ModelConnector): Names {
  const { connectorId } = where;
  const at = (name: string) => sourceGroup(connectorId, idOf(name));
  const who = (name: string) => sourceUser(idOf(name));
  const same = (name: string, ...members: Principal[]) => group(connectorId, name, members, members);
  const foreign = [
    "workspace",
    user("outside"),
    "user:mirror:elsewhere.test:1",
    `group:${idFor("connector", "board")}:team`,
    `group:${idFor("group", "group:grp_all")}`,
    `group:connector:${connectorId}`,
  ];
  const groups = [
    same("team", who("in")),
    same("nested", at("team"), who("other")),
    same("deep", at("nested")),
    same("ringA", at("ringB"), who("out")),
    same("ringB", at("ringA"), who("other")),
    same("lost", at("lostB")),
    same("lostB", at("lost")),
    same("public", who("other"), "everyone"),
    same("ofLate", who("late")),
    same("ofTwice", who("twice")),
    same("ofQuit", who("quit")),
    same("foreign", ...foreign),
    same("withOwner", user("owner")),
    group(connectorId, "old", [who("in"), who("out"), who("own"), "everyone"], "not_looked_at"),
    group(connectorId, "ended", [who("in"), who("out"), who("own")], undefined),
    group(connectorId, "left", [who("in"), who("out")], [who("other")]),
    group(connectorId, "ofOpen", [who("in"), who("out"), who("own")], [who("in"), who("out")], "open"),
    group(connectorId, "barred", [who("in"), who("out"), "everyone"], refusedBy(where)),
  ];
  where.mirror?.groups.push(...groups);
  const names = Object.fromEntries(
    groups.map(({ group: principal, canary }) => [nameOf(principal, canary), principal]),
  );
  const people = Object.fromEntries(
    ["in", "out", "own", "late", "twice", "quit", "other"].map((name) => [name, who(name)]),
  );
  const others = Object.fromEntries(foreign.map((principal, i) => [`foreign${i}`, principal]));
  return { ...names, ...people, ...others, everyone: "everyone", owner: user("owner") };
}

/** What a source says of a group that it does not show any more: that, or nothing where it tells of groups by themselves. */
const refusedBy = ({ mirror }: ModelConnector) => (mirror?.tellsGroupsIn === "sync" ? "refused" : undefined);

const nameOf = (principal: Principal, canary: string) =>
  principal.slice(principal.lastIndexOf(":") + 1, -canary.length - 1);

function anyAccess(random: Random, names: Names): SourceAccess {
  if (random.chance(0.06)) return { known: false };
  const lists = Array.from({ length: 1 + random.int(2) }, () => random.some(Object.values(names), 1 + random.int(3)));
  return { known: true, all: lists.map((list) => [...new Set(list)]) };
}

interface Making {
  name: string;
  where: ModelConnector;
  access: SourceAccess | null;
  model: Model;
  names: Names;
  isSure?: boolean;
  words?: readonly string[];
}

function makeMirrored(random: Random, { name, where, access, model, names, isSure = false, words }: Making): ModelItem {
  const item = makeItem(random, name, where, access, words ?? model.words);
  const beside = model.items.filter(({ connectorId }) => connectorId === where.connectorId);
  const whole = !isSure && beside.length > 0 && random.chance(0.3) ? random.pick(beside) : undefined;
  const parent = whole?.kbId ?? null;
  const own = parent !== null && random.chance(0.4) ? null : access;
  // A part lives where the whole does.
  const home = isSure ? "open" : random.pick(["open", "open", "open", "open", "shut", "far", "gone"]);
  const space = whole?.mirrored?.space ?? home;
  const looks: Look[] = [
    { says: "item", access: own },
    isSure ? { says: "item", access: own } : laterLook(random, own, names),
  ];
  const author = random.pick(["in", "out", "other", "quit"]);
  const dice = makeRandom(random.int(2 ** 30));
  const [, last] = looks;
  // Out of a space of which nothing more is said, or into one.
  if (!isSure && last?.says === "item" && dice.chance(0.3)) last.space = dice.pick(["open", "open", "shut"]);
  const replyTo = beside.length > 0 && dice.chance(0.3) ? dice.pick(beside).kbId : null;
  const mirrored = { space, replyTo, isPart: parent !== null, authorId: idOf(author), looks };
  return { ...item, parent, access: own, isRemoved: false, mirrored };
}

function laterLook(random: Random, access: SourceAccess | null, names: Names): Look {
  const says = random.pick([
    "item",
    "item",
    "item",
    "item",
    "refused",
    "not_looked_at",
    "failed",
    "deleted",
    "nothing",
  ] as const);
  if (says !== "item") return { says };
  if (access === null || random.chance(0.7)) return { says, access };
  return { says: "access", access: anyAccess(random, names) };
}

/**
 * The mirrored part of a world with more in it that `persona` can't see: people and groups that they must not learn of, in
 * their own source too, and items that time, the source or an exception has shut in every way.
 */
export function withHiddenMirrors(of: { model: Model; grown: Model; persona: Persona; random: Random }): Model {
  const { model, grown, persona, random } = of;
  const base = model.connectors.filter(({ mirror }) => mirror !== undefined);
  const world: Model = {
    ...grown,
    connectors: [...grown.connectors, ...base.map(copyOf)],
    items: [...grown.items, ...model.items.filter(({ mirrored }) => mirrored !== undefined)],
    joins: new Map([...model.joins, [GHOST, persona]]),
  };
  const seen = model.items.filter((item) => mayRead(model, persona, item));
  const other = persona === "owner" ? "inside" : "owner";
  const dark = connector("dark", "one", "mirror", "workspace", other, []);
  const shut = connector("shut", "one", "mirror", "workspace", other, []);
  const cloister = connector("cloister", "one", "mirror", "private", other, []);
  dark.mirror = mirrorOf(["proof", "unavailable"], "identities");
  shut.mirror = mirrorOf(["proof", "unauthorized"], "sync");
  cloister.mirror = mirrorOf(["proof", "proof"], "sync");
  const places = world.connectors.filter(({ mirror }) => mirror !== undefined);
  const named = places.map((where) => ({ where, names: addHiddenGroups(where) }));
  for (const where of [dark, shut, cloister])
    named.push({ where, names: { ...addHiddenGroups(where), everyone: "everyone" } });
  world.connectors.push(dark, shut, cloister);
  const words = [...model.words, ...model.hiddenWords];
  for (const { where, names } of named) {
    const isBase = base.some(({ connectorId }) => connectorId === where.connectorId);
    // One behind each group and each person, one for everybody behind each kind of look, and whatever the dice say.
    const sure = isBase ? [...Object.values(names), ...SHUT.map(() => names["public"] ?? "")] : [];
    const wanted = sure.length + (isBase ? 6 : 3);
    for (let i = 0, added = 0; added < wanted && i < wanted * 4; i++) {
      const making = { name: `${model.seed} hidden ${where.name} ${i}`, where, names, words, model: world };
      const one = sure[i];
      const access: SourceAccess = one === undefined ? anyAccess(random, names) : { known: true, all: [[one]] };
      const fresh = makeMirrored(random, { ...making, access, isSure: one !== undefined });
      const says = SHUT[i - Object.values(names).length];
      if (fresh.mirrored && says !== undefined) fresh.mirrored.looks[1] = { says };
      const item = seen.length > 0 && random.chance(0.5) ? twinOf(random, random.pick(seen), fresh) : fresh;
      if (mayRead(world, persona, item)) continue;
      world.items.push({ ...item, isAdded: true });
      added++;
    }
  }
  addUnnamed(world, random);
  return world;
}

/** What shuts an item that everybody could read. */
const SHUT = ["refused", "not_looked_at", "failed", "deleted"] as const;

/** So many items go unnamed that all of them stay until somebody decides. */
function addUnnamed(world: Model, random: Random): void {
  const where = world.connectors.find(({ connectorId }) => connectorId === idFor("connector", "wiki"));
  if (!where) return;
  const access: SourceAccess = { known: true, all: [["everyone"]] };
  for (let i = 0; i < MANY; i++) {
    const item = makeItem(random, `${world.seed} unnamed ${i}`, where, access, world.words);
    const looks: Look[] = [{ says: "item", access }, { says: "nothing" }];
    const text = item.text.slice(0, 200);
    const mirrored = { space: "open", replyTo: null, isPart: false, authorId: idOf("other"), looks };
    world.items.push({ ...item, text, isRemoved: false, isAdded: true, mirrored });
  }
}

/** Groups past their clock, of people past theirs, and of people who are nobody here. */
function addHiddenGroups(where: ModelConnector): Names {
  const { connectorId, mirror } = where;
  const at = (name: string) => sourceGroup(connectorId, idOf(name));
  const who = (name: string) => sourceUser(idOf(name));
  const ours = ["in", "out", "own"].map(who);
  const hidden = [
    group(connectorId, "hidden", [who("h1")], [who("h1")]),
    group(connectorId, "hiddenOld", [...ours, "everyone"], "not_looked_at"),
    group(connectorId, "hiddenOver", [at("hiddenOld")], [at("hiddenOld")]),
    group(connectorId, "hiddenEnded", [...ours, "everyone"], undefined),
    group(connectorId, "hiddenLeft", ours, [who("h1")]),
    group(connectorId, "hiddenBarred", [...ours, "everyone"], refusedBy(where)),
    group(connectorId, "ofGhost", [who("ghost")], [who("ghost")]),
    group(connectorId, "hiddenRing", [at("hiddenRingB"), who("h1")], [at("hiddenRingB"), who("h1")]),
    group(connectorId, "hiddenRingB", [at("hiddenRing")], [at("hiddenRing")]),
  ];
  mirror?.groups.push(...hidden);
  mirror?.users.push(person("h1", "active", "active"), person("ghost", "active", "not_looked_at"));
  return {
    ...Object.fromEntries(hidden.map(({ group: principal, canary }) => [nameOf(principal, canary), principal])),
    ghost: who("ghost"),
    h1: who("h1"),
    team: at("team"),
    public: at("public"),
  };
}

function copyOf(where: ModelConnector): ModelConnector {
  const { mirror } = where;
  if (!mirror) return where;
  return { ...where, mirror: { ...mirror, groups: [...mirror.groups], users: [...mirror.users] } };
}
