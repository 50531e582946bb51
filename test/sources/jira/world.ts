/** What a Jira site holds: plain data, and who may read it by its own rules. */
export interface User {
  id: string;
  name: string;
  active: boolean;
  email?: string;
  accountType?: string;
}

export interface Holder {
  type: string;
  parameter?: string;
  value?: string;
}

export interface Project {
  id: string;
  key: string;
  name: string;
  lead: string;
  browse: Holder[];
  /** Users and groups by role id. */
  roles: Record<string, { name: string; users: string[]; groups: string[] }>;
  securityScheme?: string;
  type: string;
}

export interface Comment {
  id: string;
  author: string;
  text: string;
  visibility?: { type: string; value: string; identifier: string };
  jsdPublic?: boolean;
}

export interface Issue {
  id: string;
  key: string;
  project: string;
  summary: string;
  text: string;
  reporter: string | undefined;
  assignee?: string;
  approver?: string;
  security?: string;
  restricted?: boolean;
  labels: string[];
  done?: boolean;
  /** When it was archived. */
  archived?: string;
  comments: Comment[];
  attachments: { id: string; name: string; text: string }[];
  updated: number;
}

export const TOKEN = "kb-canary-jira-token-1";
export const OTHER_TOKEN = "kb-canary-jira-token-2";

const user = (id: string, more: Partial<User> = {}): User => ({
  id,
  name: id.replace(/^.*:/, ""),
  active: true,
  accountType: "atlassian",
  ...more,
});

const ADMINS: Holder = { type: "group", parameter: "admins", value: "g-admins" };

/**
 * Four people and three projects. ENG: the role Developers (the group devs with ann, and dan). OPS: the group ops (ann and
 * ben), and those who reported an issue. LOBBY: everybody with access. A level of ENG lets in dan and the reporter only. Eve
 * was in every group and has no access to Jira any more.
 */
export function makeWorld() {
  let next = 100;
  const users = new Map(
    [
      user("712020:ann", { email: "ann@corp.example" }),
      user("712020:ben"),
      user("712020:cid"),
      user("712020:dan"),
      user("712020:eve"),
      user("712020:bot"),
      user("712020:aud"),
      user("qm:customer", { accountType: "customer" }),
    ].map((each) => [each.id, each]),
  );
  const id = (name: string) => `712020:${name}`;
  const ids = {
    ann: id("ann"),
    ben: id("ben"),
    cid: id("cid"),
    dan: id("dan"),
    eve: id("eve"),
    bot: id("bot"),
    aud: id("aud"),
  };
  const groups = new Map<string, { name: string; members: Set<string> }>([
    [
      "g-users",
      { name: "jira-users", members: new Set([ids.ann, ids.ben, ids.cid, ids.dan, ids.bot, ids.aud, "qm:customer"]) },
    ],
    ["g-admins", { name: "admins", members: new Set([ids.bot]) }],
    ["g-devs", { name: "devs", members: new Set([ids.ann, ids.eve]) }],
    ["g-ops", { name: "ops", members: new Set([ids.ann, ids.ben, ids.eve]) }],
  ]);
  const projects: Project[] = [
    {
      id: "10000",
      key: "ENG",
      name: "Engineering",
      lead: ids.dan,
      type: "software",
      browse: [
        { type: "projectRole", parameter: "10100", value: "10100" },
        ADMINS,
        { type: "sd.customer.portal.only" },
      ],
      roles: {
        "10100": { name: "Developers", users: [ids.dan], groups: ["g-devs"] },
        "10101": { name: "Leads", users: [ids.dan], groups: [] },
      },
      securityScheme: "20000",
    },
    {
      id: "10001",
      key: "OPS",
      name: "Operations",
      lead: ids.ben,
      type: "service_desk",
      browse: [
        { type: "group", parameter: "ops", value: "g-ops" },
        { type: "reporter" },
        { type: "userCustomField", parameter: "customfield_10050", value: "customfield_10050" },
        ADMINS,
      ],
      roles: {},
    },
    {
      id: "10002",
      key: "LOBBY",
      name: "Lobby",
      lead: ids.ann,
      type: "business",
      browse: [{ type: "applicationRole" }],
      roles: {},
    },
  ];
  const levels = new Map<string, { scheme: string; holders: Holder[] }>([
    [
      "30000",
      {
        scheme: "20000",
        holders: [{ type: "user", parameter: ids.dan, value: ids.dan }, { type: "reporter" }, ADMINS],
      },
    ],
  ]);
  const issues: Issue[] = [];
  const world = {
    users,
    ids,
    groups,
    projects,
    levels,
    issues,
    tokens: new Map([
      [TOKEN, ids.bot],
      [OTHER_TOKEN, ids.aud],
    ]),
    admins: new Set([ids.bot]),
    applicationRoles: [{ key: "jira-software", groups: ["g-users"] }],
    makeId: () => String(++next),
    project(key: string): Project {
      const found = projects.find((each) => each.key === key);
      if (!found) throw new Error(`There is no project ${key}.`);
      return found;
    },
    add(key: string, summary: string, more: Partial<Issue> = {}): Issue {
      const number = ++next;
      const issue: Issue = {
        id: String(10_000 + number),
        key: `${key}-${number}`,
        project: world.project(key).id,
        summary,
        text: `About ${summary}`,
        reporter: ids.cid,
        labels: [],
        comments: [],
        attachments: [],
        updated: Date.now(),
        ...more,
      };
      issues.push(issue);
      return issue;
    },
    comment(issue: Issue, author: string, text: string, more: Partial<Comment> = {}): Comment {
      const comment = { id: String(++next), author, text, jsdPublic: true, ...more };
      issue.comments.push(comment);
      issue.updated = Date.now();
      return comment;
    },
    attach(issue: Issue, name: string, text: string) {
      const file = { id: String(++next), name, text };
      issue.attachments.push(file);
      issue.updated = Date.now();
      return file;
    },
    /** Who is in a role of ENG, one by one. */
    setDevelopers: (...people: string[]) => Object.assign(world.project("ENG").roles["10100"] ?? {}, { users: people }),
    leave: (group: string, who: string) => groups.get(group)?.members.delete(who),
    giveLevel: (level: string, holders: Holder[]) => Object.assign(levels.get(level) ?? {}, { holders }),
    issue(externalId: string): Issue | undefined {
      return issues.find(({ id: one }) => one === externalId.split(".")[0]);
    },
    isLicensed: (who: string) => {
      const { active, accountType } = users.get(who) ?? { active: false, accountType: "" };
      const inside = world.applicationRoles
        .flatMap(({ groups: some }) => some)
        .some((group) => groups.get(group)?.members.has(who));
      return active && accountType === "atlassian" && inside;
    },
    /** By Jira's rules: the permission to browse, and the level. */
    mayRead(who: string, issue: Issue): boolean {
      const project = projects.find(({ id: one }) => one === issue.project);
      if (!project || issue.restricted || !world.isLicensed(who)) return false;
      const level = issue.security === undefined ? undefined : levels.get(issue.security);
      return holds(who, project.browse, issue, project) && (!level || holds(who, level.holders, issue, project));
    },
    whoSees(externalId: string): string[] {
      const issue = world.issue(externalId);
      if (!issue) return [];
      const comment = issue.comments.find((each) => externalId === `${issue.id}.c${each.id}`);
      const project = projects.find(({ id: one }) => one === issue.project);
      return [ids.ann, ids.ben, ids.cid, ids.dan, ids.eve]
        .filter(
          (who) =>
            world.mayRead(who, issue) && (!comment?.visibility || !project || seesComment(who, comment, project)),
        )
        .sort();
    },
  };

  function holds(who: string, holders: readonly Holder[], issue: Issue, project: Project): boolean {
    return holders.some(({ type, value }) => {
      const role = project.roles[value ?? ""];
      if (type === "group") return groups.get(value ?? "")?.members.has(who) === true;
      if (type === "projectRole") return role !== undefined && inRole(who, role);
      if (type === "user") return value === who;
      if (type === "reporter") return issue.reporter === who;
      if (type === "assignee") return issue.assignee === who;
      if (type === "userCustomField") return issue.approver === who;
      if (type === "projectLead") return project.lead === who;
      return type === "applicationRole" || type === "anyone";
    });
  }

  function inRole(who: string, role: Project["roles"][string]): boolean {
    return role.users.includes(who) || role.groups.some((group) => groups.get(group)?.members.has(who));
  }

  function seesComment(who: string, { visibility }: Comment, project: Project): boolean {
    if (visibility?.type === "group") return groups.get(visibility.identifier)?.members.has(who) === true;
    return Object.values(project.roles).some((role) => role.name === visibility?.value && inRole(who, role));
  }

  const plan = world.add("ENG", "Plan the blue service", { reporter: ids.ann, assignee: ids.dan, labels: ["blue"] });
  for (const text of ["To the second cluster.", "Since Monday.", "And the third?"]) world.comment(plan, ids.dan, text);
  const inner = world.comment(plan, ids.dan, "Only leads know the price.", {
    visibility: { type: "role", value: "Leads", identifier: "Leads" },
  });
  const grouped = world.comment(plan, ids.dan, "Only ops know the port.", {
    visibility: { type: "group", value: "ops", identifier: "g-ops" },
  });
  const file = world.attach(plan, "notes.txt", "Notes of the deployment.");
  const secret = world.add("ENG", "Salaries of next year", { security: "30000", reporter: ids.ann });
  world.comment(secret, ids.dan, "Do not tell.");
  const hidden = world.add("ENG", "Reported from outside", { security: "30000", reporter: ids.ben });
  const outage = world.add("OPS", "Outage on Friday");
  const approved = world.add("OPS", "A new server", { reporter: ids.ben, approver: ids.dan });
  const internal = world.comment(outage, ids.ben, "No one told the customer.", { jsdPublic: false });
  const welcome = world.add("LOBBY", "Welcome everyone", { done: true });
  const lunch = world.add("LOBBY", "Lunch at noon?");
  const start = Date.now() - 90 * 60_000;
  for (const issue of issues) issue.updated = start;
  return Object.assign(world, {
    made: { plan, inner, grouped, file, secret, hidden, outage, approved, internal, welcome, lunch },
  });
}
export type World = ReturnType<typeof makeWorld>;
