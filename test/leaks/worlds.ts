/** Random worlds: who is where, what there is, and the same with more in it that somebody can't see. */
import type { Principal, SourceAccess } from "#core/principals.ts";
import { addConnections, withHiddenConnections } from "./connections.ts";
import { addMirrors, withHiddenMirrors } from "./mirror-worlds.ts";
import { connector, makeItem, twinOf } from "./things.ts";
import {
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
    connections: [],
    groups: new Map(
      [
        ["group:grp_staff", [user("inside"), user("removed")]],
        ["group:grp_all", ["group:grp_staff", user("outside"), user("owner")]],
        ["group:grp_none", [user("stranger")]],
      ].map(([group, members]) => [groupPrincipal(String(group)), (members as string[]).map(groupPrincipal)]),
    ),
    joins: new Map(),
    linked: new Map(),
    now: NOW,
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

/** The same, with sources whose permissions are mirrored. */
export function makeMirroredModel(seed: number, size = 60): Model {
  return addMirrors(makeModel(seed, size));
}

/** The same, with people's connections to provider servers. */
export function makeConnectedModel(seed: number, size = 60): Model {
  return addConnections(makeMirroredModel(seed, size));
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
  const connectors = [
    ...model.connectors.filter(({ mirror }) => mirror === undefined),
    secret,
    connector("elsewhere", "two", "push", "workspace", "stranger", []),
  ];
  const own = model.items.filter((item) => item.mirrored === undefined);
  const seen = own.filter((item) => mayRead(model, persona, item));
  const grown: Model = { ...model, connectors, items: [...own] };
  for (let i = 0; grown.items.length < own.length + count && i < count * 20; i++) {
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
  const more = model.connectors.some(({ mirror }) => mirror)
    ? withHiddenMirrors({ model, grown, persona, random })
    : grown;
  return model.connections.length > 0 ? withHiddenConnections(more, persona) : more;
}

/** Readable group names become ids. */
function groupPrincipal(name: Principal): Principal {
  return name.startsWith("group:grp_") ? `group:${idFor("group", name)}` : name;
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
