/**
 * Random worlds as plain data: who is where, what there is, who may see it. This oracle uses none of the
 * program's code: it walks memberships and lists by hand.
 */
import { createHash } from "node:crypto";
import { type FieldValue, ID_ALPHABET, ID_PREFIXES, type IdKind, type ItemKind } from "#api/common.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";

/** Whose eyes the tests look through. */
export const PERSONAS = ["owner", "inside", "outside", "removed", "stranger"] as const;
export type Persona = (typeof PERSONAS)[number];

export interface ModelConnector {
  connectorId: string;
  workspace: "one" | "two";
  providerId: "filesystem" | "push";
  /** Ends in its canary. */
  name: string;
  canary: string;
  owner: Persona;
  visibility: "private" | "members" | "workspace";
  members: Persona[];
  isDeleting: boolean;
}

export interface ModelItem {
  kbId: string;
  connectorId: string;
  workspace: "one" | "two";
  kind: ItemKind;
  title: string;
  text: string;
  path: string[];
  labels: string[];
  /** A name and values that others share, a name of its own choice, and the canary. */
  fields: Record<string, FieldValue>;
  author: string;
  url: string | null;
  key: string | null;
  source: string;
  /** The kbId of the item it belongs to, of the same connector. */
  parent: string | null;
  /** Null = its parent's. */
  access: SourceAccess | null;
  updatedAt: number;
  dueAt: number | null;
  isDone: boolean;
  isRemoved: boolean;
  /** Only there in the world with more hidden things. */
  isAdded: boolean;
  /** Stands in every text of this item and nowhere else. */
  canary: string;
}

export interface Model {
  seed: number;
  connectors: ModelConnector[];
  items: ModelItem[];
  /** Group principal → members. */
  groups: Map<Principal, Principal[]>;
  /** Words that visible and hidden items share, and words that only hidden ones may have. */
  words: string[];
  hiddenWords: string[];
}

export const NOW = Date.UTC(2026, 10, 21, 9, 30);

/** The same id for the same name in every world. */
export function idFor(kind: IdKind, name: string): string {
  const bytes = createHash("sha256").update(`${kind} ${name}`).digest();
  const body = [...bytes.subarray(0, 16)].map((byte) => ID_ALPHABET[byte & 31]).join("");
  return `${ID_PREFIXES[kind]}_${body}`;
}

export const userIdOf = (persona: Persona): string => idFor("user", persona);
export const WORKSPACES = { one: idFor("workspace", "one"), two: idFor("workspace", "two") } as const;

/** What makes two entities one: the first word. One person has many spellings, some of them in hidden items only. */
export const identityOf = (name: string): string => `claimed ${name.split(" ")[0] ?? name}`;

export function entityIdOf(item: ModelItem, type: string, name: string): string {
  return idFor("entity", `${item.workspace} ${type} ${identityOf(name)}`);
}

/** A word that occurs nowhere else; ends so that no stemmer touches it. */
export function canaryFor(name: string): string {
  const bytes = createHash("sha256").update(`canary ${name}`).digest();
  return `cnry${[...bytes.subarray(0, 10)].map((byte) => String.fromCharCode(97 + (byte % 26))).join("")}x`;
}

/** Stands in what the connector's source said when its last run failed. */
export function problemCanaryOf(connector: Pick<ModelConnector, "connectorId">): string {
  return canaryFor(`problem ${connector.connectorId}`);
}

/** A finished run of the connector and one under way. */
export function syncIdsOf(connectorId: string): [string, string] {
  return [idFor("sync", `${connectorId} finished`), idFor("sync", `${connectorId} running`)];
}

/** Every canary that a text mentions. */
export function canariesIn(text: string): Set<string> {
  return new Set(text.match(/cnry[a-z]{10}x/g) ?? []);
}

/** Small, seeded, the same on every machine (mulberry32). */
export function makeRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (p: number) => next() < p,
    pick<T>(values: readonly T[]): T {
      const value = values[int(values.length)];
      if (value === undefined) throw new Error("Nothing to pick from.");
      return value;
    },
    some: <T>(values: readonly T[], count: number): T[] =>
      Array.from({ length: Math.min(count, values.length) }, () => values[int(values.length)]).flatMap((v) =>
        v === undefined ? [] : [v],
      ),
  };
}
export type Random = ReturnType<typeof makeRandom>;

const WORDS =
  "ledger budget harbour invoice rollback webhook retry kitchen orbit cactus velvet granite falcon meadow puzzle lantern copper thunder biscuit anchor compass quarry saddle timber violet walnut zephyr marble pepper saffron deploy outage contract customer travel policy salary merger notes review".split(
    " ",
  );
/** Neighbours of visible words: longer, misspelt, or simply unknown. */
const HIDDEN_WORDS =
  "ledgerwork ledgre budgets2 harbourmaster invoicing retries orbitals merger-zeus layoffs zeusfall".split(" ");

/** A world of two workspaces with items of every kind of access. */
export function makeModel(seed: number, size = 60): Model {
  const random = makeRandom(seed);
  const connectors: ModelConnector[] = [
    connector("docs", "one", "filesystem", "workspace", "owner", []),
    connector("board", "one", "push", "members", "owner", ["inside", "removed"]),
    connector("mine", "one", "push", "private", "inside", []),
    connector("vault", "one", "push", "private", "owner", []),
    connector("going", "one", "push", "workspace", "owner", [], true),
    connector("theirs", "two", "push", "workspace", "stranger", []),
  ];
  const model: Model = {
    seed,
    connectors,
    items: [],
    groups: new Map(
      [
        ["group:grp_staff", [user("inside"), user("removed")]],
        ["group:grp_all", ["group:grp_staff", user("outside"), user("owner")]],
        ["group:grp_none", [user("stranger")]],
      ].map(([group, members]) => [groupPrincipal(String(group)), (members as string[]).map(groupPrincipal)]),
    ),
    words: WORDS,
    hiddenWords: HIDDEN_WORDS,
  };
  for (let i = 0; i < size; i++) {
    model.items.push(makeItem(random, `${seed} base ${i}`, random.pick(connectors), randomAccess(random), WORDS));
  }
  // Everybody who belongs sees something and doesn't see something, whatever the dice say.
  const sure: [ModelConnector, SourceAccess][] = [
    [connectors[0] ?? random.pick(connectors), { known: true, all: [["workspace"]] }],
    [connectors[1] ?? random.pick(connectors), { known: true, all: [[user("inside"), user("removed")]] }],
    [connectors[3] ?? random.pick(connectors), { known: true, all: [["everyone"]] }],
    [connectors[5] ?? random.pick(connectors), { known: true, all: [["everyone"]] }],
  ];
  giveParents(makeRandom(seed ^ 0xfa11), model.items);
  sure.forEach(([where, access], i) => model.items.push(makeItem(random, `${seed} sure ${i}`, where, access, WORDS)));
  for (const [at, access] of [null, { known: true as const, all: [[user("inside")]] }].entries()) {
    const parent = model.items.at(-sure.length - at);
    const [where = random.pick(connectors)] = connectors;
    const child = makeItem(random, `${seed} child ${at}`, where, access, WORDS);
    model.items.push({ ...child, parent: parent?.kbId ?? null });
  }
  return model;
}

/** Makes some of the items children of others of their connector, in chains too, some without an access of their own. */
function giveParents(random: Random, items: ModelItem[]): void {
  for (const [at, item] of items.entries()) {
    if (!random.chance(0.35)) continue;
    const before = items.slice(0, at).filter((other) => other.connectorId === item.connectorId);
    if (before.length === 0) continue;
    item.parent = random.pick(before).kbId;
    if (random.chance(0.4)) item.access = null;
  }
}

/**
 * The same world with more in it that `persona` can't see: twins and near-twins of what they see, other words, other
 * people and labels, in hidden connectors, unreadable accesses, another workspace, and things just removed.
 */
export function withHidden(model: Model, persona: Persona, count = 60): Model {
  const random = makeRandom(model.seed ^ 0x5eed);
  const secret = connector("secret", "one", "push", "private", "owner", []);
  const connectors = [...model.connectors, secret, connector("elsewhere", "two", "push", "workspace", "stranger", [])];
  const seen = model.items.filter((item) => mayRead(model, persona, item));
  const grown: Model = { ...model, connectors, items: [...model.items] };
  for (let i = 0; grown.items.length < model.items.length + count && i < count * 20; i++) {
    // Below what is seen and below what is not, mostly with an access of its own.
    const parent = random.chance(0.5) ? random.pick(random.chance(0.6) && seen.length > 0 ? seen : grown.items) : null;
    const where = connectors.find((one) => one.connectorId === parent?.connectorId) ?? random.pick(connectors);
    const access = random.chance(0.3)
      ? { known: true as const, all: [["workspace"], ["everyone"]] }
      : randomAccess(random);
    const fresh = makeItem(random, `${model.seed} hidden ${i}`, where, access, [...WORDS, ...HIDDEN_WORDS]);
    const item = seen.length > 0 && random.chance(0.5) ? twinOf(random, random.pick(seen), fresh) : fresh;
    item.parent = parent?.kbId ?? null;
    if (parent !== null && random.chance(0.2)) item.access = null;
    if (!mayRead(grown, persona, item)) grown.items.push({ ...item, isAdded: true });
  }
  return grown;
}

/**
 * Every canary that this persona may meet: of items they may read, of connectors they own, administer, or see an item of.
 */
export function allowedCanaries(model: Model, persona: Persona): Set<string> {
  const allowed = new Set<string>();
  if (persona === "removed") return allowed;
  for (const item of model.items) {
    if (!mayRead(model, persona, item)) continue;
    allowed.add(item.canary);
    const where = model.connectors.find((one) => one.connectorId === item.connectorId);
    if (where) allowed.add(where.canary);
  }
  for (const one of model.connectors) {
    const administers = one.workspace === "two" ? persona === "stranger" : persona === "owner";
    if (administers || one.owner === persona) allowed.add(one.canary);
    // A source's own words are for the connector's owner alone (S43).
    if (one.owner === persona) allowed.add(problemCanaryOf(one));
  }
  return allowed;
}

/** The oracle: may this persona read this item? */
export function mayRead(model: Model, persona: Persona, item: ModelItem): boolean {
  if (persona === "removed") return false;
  if ((persona === "stranger") !== (item.workspace === "two")) return false;
  const where = model.connectors.find((one) => one.connectorId === item.connectorId);
  if (!where || where.isDeleting || item.isRemoved) return false;
  const isMember =
    where.visibility === "workspace" ||
    where.owner === persona ||
    (where.visibility === "members" && where.members.includes(persona));
  return isMember && letsIn(model, persona, item);
}

/** Its own access and that of everything above it. */
function letsIn(model: Model, persona: Persona, { access, parent: parentId }: ModelItem): boolean {
  if (access !== null) {
    if (!access.known || access.all.length === 0) return false;
    const isMet = access.all.every((list) => list.some((principal) => stands(model, persona, principal, 0)));
    if (!isMet || parentId === null) return isMet;
  }
  const parent = model.items.find((other) => other.kbId === parentId);
  return parent !== undefined && mayRead(model, persona, parent);
}

function stands(model: Model, persona: Persona, principal: Principal, depth: number): boolean {
  if (principal === "workspace" || principal === "everyone" || principal === user(persona)) return true;
  if (depth > 5) return false;
  return (model.groups.get(principal) ?? []).some((member) => stands(model, persona, member, depth + 1));
}

function user(persona: Persona): Principal {
  return `user:${userIdOf(persona)}`;
}

/** Readable group names become ids. */
function groupPrincipal(name: Principal): Principal {
  return name.startsWith("group:grp_") ? `group:${idFor("group", name)}` : name;
}

function connector(
  name: string,
  workspace: "one" | "two",
  providerId: "filesystem" | "push",
  visibility: ModelConnector["visibility"],
  owner: Persona,
  members: Persona[],
  isDeleting = false,
): ModelConnector {
  const canary = canaryFor(`connector ${name}`);
  const connectorId = idFor("connector", name);
  const shown = `${name} ${canary}`;
  return { connectorId, workspace, providerId, name: shown, canary, owner, visibility, members, isDeleting };
}

function randomAccess(random: Random): SourceAccess {
  if (random.chance(0.08)) return { known: false };
  const principals = [
    "workspace",
    "everyone",
    user("owner"),
    user("inside"),
    user("outside"),
    user("stranger"),
    groupPrincipal("group:grp_staff"),
    groupPrincipal("group:grp_all"),
    groupPrincipal("group:grp_none"),
    `group:${idFor("connector", "board")}:team`,
  ];
  const lists = Array.from({ length: 1 + random.int(3) }, () => random.some(principals, random.int(4)));
  return { known: true, all: random.chance(0.05) ? [] : lists.map((list) => [...new Set(list)]) };
}

function makeItem(
  random: Random,
  name: string,
  where: ModelConnector,
  access: SourceAccess | null,
  words: readonly string[],
): ModelItem {
  const canary = canaryFor(name);
  const kind = random.pick(["task", "file", "page", "message"] as const);
  const sentence = (count: number) => random.some(words, count).join(" ");
  const text = Array.from(
    { length: 1 + random.int(5) },
    () => `${sentence(5 + random.int(20))}. ${canary} ${sentence(3)}.`,
  );
  return {
    kbId: idFor("item", name),
    connectorId: where.connectorId,
    workspace: where.workspace,
    kind,
    title: `${sentence(1 + random.int(4))} ${canary}`,
    text: `# ${sentence(2)} ${canary}\n\n${text.join("\n\n")}`,
    path: [`${random.pick(words)} ${canary}`],
    labels: [random.pick(words), canary],
    fields: {
      stage: random.pick(["draft", "final", random.pick(words)]),
      topics: [random.pick(words), canary],
      [random.pick(words)]: 1 + random.int(5),
      note: canary,
    },
    author: `${random.pick(["Ana Kowalska", "Bo Smith", "Cy Young"])} ${canary}`,
    url: random.chance(0.5) ? `https://docs.test/${random.pick(words)}/${canary}` : null,
    key: random.chance(0.4) ? keyOf(kind, canary, random.int(9)) : null,
    source: `${where.providerId}:${where.name}${random.chance(0.2) ? ` ${canary}` : ""}`,
    parent: null,
    access,
    updatedAt: NOW - random.int(90) * 86_400_000 - random.int(86_400_000),
    dueAt: kind === "task" && random.chance(0.7) ? NOW + (random.int(30) - 10) * 86_400_000 : null,
    isDone: random.chance(0.4),
    isRemoved: random.chance(0.08),
    isAdded: false,
    canary,
  };
}

/** A task's own number, or the name of a file, which others have too. */
function keyOf(kind: ModelItem["kind"], canary: string, n: number): string {
  if (kind === "task") return `${canary.toUpperCase().slice(0, 6)}-${1 + n}`;
  return ["README.md", "notes.md", "plan.md"][n % 3] ?? "";
}

/** A hidden item that looks like one that is seen: same words, same address, same key, newer. */
function twinOf(random: Random, seen: ModelItem, hidden: ModelItem): ModelItem {
  const own = (text: string) => (random.chance(0.5) ? text.replaceAll(seen.canary, hidden.canary) : text);
  return {
    ...hidden,
    title: own(seen.title),
    text: own(seen.text),
    url: seen.url,
    key: seen.key,
    author: seen.author,
    labels: seen.labels,
    fields: random.chance(0.5) ? { ...seen.fields, note: hidden.canary } : hidden.fields,
    path: seen.path,
    kind: seen.kind,
    updatedAt: NOW - random.int(1_000),
  };
}
