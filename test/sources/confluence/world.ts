/** What a Confluence site holds: plain data, and who may read it by its own rules. */
export interface User {
  id: string;
  name: string;
  active: boolean;
  email?: string;
  accountType: string;
  isGuest?: boolean;
}

/** Whom a space or a restriction lets in. */
export interface Readers {
  users: string[];
  groups: string[];
}

export interface Space {
  id: string;
  key: string;
  name: string;
  readers: Readers;
  /** To everybody with a licence; Data Center knows no such thing. */
  isForLicensed?: boolean;
  isOpen?: boolean;
  isArchived?: boolean;
}

export interface Part {
  id: string;
  type: "comment" | "attachment";
  author: string;
  /** The name of an attachment. */
  title: string;
  text: string;
  selection?: string;
  version: number;
  updated: number;
}

export interface Page {
  id: string;
  type: "page" | "blogpost" | "folder";
  status: "current" | "draft" | "trashed";
  space: string;
  parent: string | undefined;
  title: string;
  body: string;
  /** Who may read it and what stands below it; undefined = everybody who may see the space. */
  restriction?: Readers;
  author: string;
  version: number;
  updated: number;
  parts: Part[];
}

export const TOKEN = "kb-canary-confluence-token-1";
export const OTHER_TOKEN = "kb-canary-confluence-token-2";

/**
 * Six people and four spaces. ENG: the group devs (ann) and dan. OPS: the group ops (ann and ben), and the guest gus. LOBBY:
 * everybody with a licence. OPEN: everybody. Eve was in every group and may not use Confluence any more. Below the page Plans
 * of ENG, Salaries is for dan and the group ops; below it, Bonus is for the group devs: nobody is in both but ann.
 */
export function makeWorld() {
  let next = 100;
  const id = (name: string) => `712020:${name}`;
  const ids = {
    ann: id("ann"),
    ben: id("ben"),
    cid: id("cid"),
    dan: id("dan"),
    eve: id("eve"),
    gus: id("gus"),
    bot: id("bot"),
    aud: id("aud"),
  };
  const user = (who: string, more: Partial<User> = {}): [string, User] => [
    who,
    { id: who, name: who.replace(/^.*:/, ""), active: true, accountType: "atlassian", ...more },
  ];
  const users = new Map<string, User>([
    user(ids.ann, { email: "ann@corp.example" }),
    ...[ids.ben, ids.cid, ids.dan, ids.eve, ids.bot, ids.aud].map((who) => user(who)),
    user(ids.gus, { isGuest: true }),
    user("qm:customer", { accountType: "customer" }),
  ]);
  const groups = new Map<string, { name: string; members: Set<string>; inside: string[]; hasAccess?: boolean }>([
    [
      "g-users",
      {
        name: "confluence-users",
        members: new Set([ids.ann, ids.ben, ids.cid, ids.dan, ids.bot, ids.aud, "qm:customer"]),
        inside: [],
        hasAccess: true,
      },
    ],
    ["g-guests", { name: "guests", members: new Set([ids.gus]), inside: [], hasAccess: true }],
    ["g-devs", { name: "devs", members: new Set([ids.ann, ids.eve, ids.gus]), inside: [] }],
    ["g-ops", { name: "ops", members: new Set([ids.ann, ids.ben, ids.eve]), inside: [] }],
  ]);
  const spaces: Space[] = [
    { id: "10000", key: "ENG", name: "Engineering", readers: { users: [ids.dan], groups: ["g-devs"] } },
    { id: "10001", key: "OPS", name: "Operations", readers: { users: [ids.gus], groups: ["g-ops"] } },
    { id: "10002", key: "LOBBY", name: "Lobby", readers: { users: [], groups: [] }, isForLicensed: true },
    { id: "10003", key: "OPEN", name: "Open", readers: { users: [], groups: [] }, isOpen: true },
    { id: "10004", key: "OLD", name: "Old", readers: { users: [], groups: ["g-users"] }, isArchived: true },
    { id: "10005", key: "~ann", name: "Ann", readers: { users: [ids.ann], groups: [] } },
  ];
  const pages: Page[] = [];
  const world = {
    users,
    ids,
    groups,
    spaces,
    pages,
    tokens: new Map([
      [TOKEN, ids.bot],
      [OTHER_TOKEN, ids.aud],
    ]),
    admins: new Set([ids.bot]),
    /** What the index does not know. */
    unindexed: new Set<string>(),
    makeId: () => String(++next),
    space(key: string): Space {
      const found = spaces.find((each) => each.key === key);
      if (!found) throw new Error(`There is no space ${key}.`);
      return found;
    },
    add(key: string, title: string, more: Partial<Page> = {}): Page {
      const page: Page = {
        id: String(10_000 + ++next),
        type: "page",
        status: "current",
        space: world.space(key).id,
        parent: undefined,
        title,
        body: `<p>About ${title.replaceAll(/[<&\p{Cc}]/gu, "")}</p>`,
        author: ids.cid,
        version: 1,
        updated: Date.now(),
        parts: [],
        ...more,
      };
      pages.push(page);
      return page;
    },
    edit(page: Page, text: string): void {
      Object.assign(page, { body: `<p>${text}</p>`, version: page.version + 1, updated: Date.now() });
    },
    comment(page: Page, author: string, text: string, more: Partial<Part> = {}): Part {
      return addPart(page, { type: "comment", author, title: "", text, ...more });
    },
    attach(page: Page, title: string, text: string): Part {
      return addPart(page, { type: "attachment", author: ids.dan, title, text });
    },
    leave: (group: string, who: string) => groups.get(group)?.members.delete(who),
    page: (pageId: string): Page | undefined => pages.find((each) => each.id === pageId),
    /** The page of an item. */
    pageOf: (externalId: string): Page | undefined => {
      const bare = externalId.replace(/^[ca]/, "");
      return pages.find((page) => page.id === externalId || page.parts.some((part) => part.id === bare));
    },
    /** With those of the groups inside it. */
    membersOf(group: string): Set<string> {
      const { members = [], inside = [] } = groups.get(group) ?? {};
      return new Set([...members, ...inside.flatMap((each) => [...world.membersOf(each)])]);
    },
    isLicensed(who: string): boolean {
      const { active, accountType } = users.get(who) ?? { active: false, accountType: "" };
      const isInside = [...groups].some(([group, { hasAccess }]) => hasAccess && world.membersOf(group).has(who));
      return active && accountType === "atlassian" && isInside;
    },
    lets(who: string, { users: some, groups: inside }: Readers): boolean {
      if (some.includes(who)) return true;
      return users.get(who)?.isGuest !== true && inside.some((group) => world.membersOf(group).has(who));
    },
    seesSpace(who: string | undefined, spaceId: string): boolean {
      const space = spaces.find((each) => each.id === spaceId);
      if (!space || space.isArchived) return false;
      if (space.isOpen) return true;
      if (who === undefined || !world.isLicensed(who)) return false;
      return (space.isForLicensed === true && users.get(who)?.isGuest !== true) || world.lets(who, space.readers);
    },
    /** By Confluence's rules: the space, the page's own restriction, and that of everything above. */
    mayRead(who: string | undefined, page: Page): boolean {
      if (!world.seesSpace(who, page.space)) return false;
      for (let at: Page | undefined = page; at; at = world.page(at.parent ?? "")) {
        if (at.restriction && (who === undefined || !world.isLicensed(who) || !world.lets(who, at.restriction)))
          return false;
      }
      return true;
    },
    whoSees(externalId: string): string[] {
      const page = world.pageOf(externalId);
      const all = [ids.ann, ids.ben, ids.cid, ids.dan, ids.eve, ids.gus];
      return page ? all.filter((who) => world.mayRead(who, page)).sort() : [];
    },
  };

  function addPart(page: Page, part: Omit<Part, "id" | "version" | "updated">): Part {
    const made = { ...part, id: String(++next), version: 1, updated: Date.now() };
    page.parts.push(made);
    return made;
  }

  const plans = world.add("ENG", "Plans");
  const blue = world.add("ENG", "The blue service", { parent: plans.id });
  const first = world.comment(blue, ids.dan, "<p>To the second cluster.</p>");
  world.comment(blue, ids.ann, "<p>Which one?</p>", { selection: "blue" });
  const file = world.attach(blue, "notes.txt", "Notes of the deployment.");
  const salaries = world.add("ENG", "Salaries", {
    parent: plans.id,
    restriction: { users: [ids.dan, ids.eve, ids.gus], groups: ["g-ops"] },
  });
  const hush = world.comment(salaries, ids.dan, "<p>Do not tell.</p>");
  const bonus = world.add("ENG", "Bonus", { parent: salaries.id, restriction: { users: [], groups: ["g-devs"] } });
  const below = world.add("ENG", "Below the bonus", { parent: bonus.id });
  const outage = world.add("OPS", "Outage on Friday");
  const news = world.add("OPS", "News of the week", { type: "blogpost" });
  const welcome = world.add("LOBBY", "Welcome everyone");
  const lunch = world.add("LOBBY", "Lunch at noon?");
  const about = world.add("OPEN", "About us");
  const board = world.add("OPEN", "Of the board", { restriction: { users: [ids.cid], groups: [] } });
  world.add("LOBBY", "Not yet", { status: "draft" });
  world.add("~ann", "My notes");
  const start = Date.now() - 90 * 60_000;
  for (const page of pages) for (const each of [page, ...page.parts]) each.updated = start;
  return Object.assign(world, {
    made: { plans, blue, first, file, salaries, hush, bonus, below, outage, news, welcome, lunch, about, board },
  });
}
export type World = ReturnType<typeof makeWorld>;
