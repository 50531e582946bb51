import type { Page, Part, Readers, Space, World } from "./world.ts";

type Json = Record<string, unknown>;

/** How Cloud and Data Center say what is in a world. */
export function makeViews(world: World, cloud: boolean) {
  const space = ({ id, key, name }: Space): Json => ({
    id: cloud ? id : Number(id),
    key,
    name,
    type: key.startsWith("~") ? "personal" : "global",
    status: cloud ? "current" : "CURRENT",
  });
  const spaceOf = ({ space: id }: Page) => {
    const found = world.spaces.find((each) => each.id === id);
    return found && space(found);
  };

  function user(id: string): Json {
    const {
      name,
      active,
      accountType,
      isGuest = false,
    } = world.users.get(id) ?? {
      name: id,
      active: false,
      accountType: "",
    };
    if (cloud) return { type: "known", accountId: id, accountType, displayName: name, email: "", isGuest };
    return {
      type: "known",
      userKey: id,
      username: name,
      displayName: name,
      status: active ? "current" : "deactivated",
    };
  }

  function ancestorsOf(page: Page): Json[] {
    const found: Json[] = [];
    for (let at = world.page(page.parent ?? ""); at; at = world.page(at.parent ?? ""))
      found.unshift({ id: at.id, type: at.type });
    return found;
  }

  function subjects(readers: Readers | undefined, query?: URLSearchParams): Json {
    const start = Number(query?.get("start") ?? 0);
    // Few of each at once, so that there are several pages.
    const limit = 2;
    const list = (all: Json[]): Json => {
      const results = all.slice(start, start + limit);
      return { results, start, limit, size: results.length };
    };
    return {
      user: list((readers?.users ?? []).map(user)),
      group: list(
        (readers?.groups ?? []).map((id) => ({
          type: "group",
          name: world.groups.get(id)?.name ?? id,
          ...(cloud && { id }),
        })),
      ),
    };
  }

  const body = (value: string): Json => ({ storage: { value, representation: "storage" } });
  const grant = (type: string, id: string): Json => ({
    id: "1",
    principal: { type, id },
    operation: { key: "read", targetType: "space" },
  });
  const serverGrant = (subject: Json, operationKey = "read", targetType = "space"): Json => ({
    operation: { operationKey, targetType },
    subject,
  });
  const groupName = (id: string) => world.groups.get(id)?.name ?? id;

  return {
    space,
    user,
    userOfBulk: (id: string): Json => {
      const {
        name,
        active,
        accountType,
        email = "",
      } = world.users.get(id) ?? {
        name: id,
        active: false,
        accountType: "unknown",
      };
      return { accountId: id, accountType, accountStatus: active ? "active" : "inactive", displayName: name, email };
    },
    /** As the second version of Cloud's API gives it. */
    second: (page: Page, hasBody: boolean): Json => ({
      id: page.id,
      type: page.type,
      status: page.status,
      title: page.title,
      spaceId: page.space,
      ...(page.type !== "blogpost" && {
        parentId: page.parent ?? null,
        parentType: page.parent === undefined ? null : (world.page(page.parent)?.type ?? "page"),
      }),
      authorId: page.author,
      createdAt: new Date(page.updated - 60_000).toISOString(),
      version: { number: page.version, createdAt: new Date(page.updated).toISOString(), authorId: page.author },
      ...(hasBody && { body: body(page.body) }),
    }),
    /** As the first version gives it. */
    page: (page: Page, expand: string): Json => ({
      id: page.id,
      type: page.type,
      status: page.status,
      title: page.title,
      space: spaceOf(page),
      ...(expand.includes("ancestors") && { ancestors: ancestorsOf(page) }),
      history: { createdBy: user(page.author), createdDate: stamp(page.updated - 60_000) },
      version: { number: page.version, when: stamp(page.updated), by: user(page.author) },
      ...(expand.includes("body.storage") && { body: body(page.body) }),
      ...(expand.includes("restrictions") && {
        restrictions: { read: { operation: "read", restrictions: subjects(page.restriction) } },
      }),
    }),
    part: (page: Page, part: Part): Json => ({
      id: cloud && part.type === "attachment" ? `att${part.id}` : part.id,
      type: part.type,
      status: "current",
      title: part.title,
      space: spaceOf(page),
      container: { id: page.id, type: page.type, title: page.title },
      history: { createdBy: user(part.author), createdDate: stamp(part.updated) },
      version: { number: part.version, when: stamp(part.updated), by: user(part.author) },
      ...(part.type === "comment" && { body: body(part.text) }),
      extensions: {
        ...(part.selection !== undefined && { inlineProperties: { originalSelection: part.selection } }),
        ...(part.type === "attachment" && { mediaType: "text/plain", fileSize: Buffer.byteLength(part.text) }),
      },
    }),
    /** Of folders it tells none, whatever restricts them. Source: https://jira.atlassian.com/browse/CONFCLOUD-82920 */
    restriction: (page: Page, query: URLSearchParams): Json => ({
      operation: "read",
      restrictions: subjects(page.type === "folder" ? undefined : page.restriction, query),
    }),
    cloudGrants: ({ readers, isForLicensed, isOpen }: Space): Json[] => [
      ...readers.users.map((id) => grant("user", id)),
      ...readers.groups.map((id) => grant("group", id)),
      ...(isForLicensed ? [grant("access-class", "all-licensed-users")] : []),
      ...(isOpen ? [grant("access-class", "anonymous-users")] : []),
      { ...grant("group", "g-users"), operation: { key: "create", targetType: "page" } },
      grant("something-new", "all-of-them"),
    ],
    serverGrants: ({ readers, isForLicensed, isOpen }: Space): Json[] => [
      ...readers.users.map((userKey) => serverGrant({ type: "user", userKey })),
      ...[...readers.groups, ...(isForLicensed ? ["g-users"] : [])].map((id) =>
        serverGrant({ type: "group", name: groupName(id) }),
      ),
      ...(isOpen ? [serverGrant({ type: "anonymous" })] : []),
      serverGrant({ type: "group", name: groupName("g-users") }, "create", "page"),
    ],
    globalGrants: (): Json[] => [
      ...[...world.groups].flatMap(([, { name, hasAccess }]) =>
        hasAccess ? [serverGrant({ type: "group", name }, "use", "application")] : [],
      ),
      serverGrant({ type: "group", name: groupName("g-devs") }, "create", "application"),
    ],
  };
}

function stamp(at: number): string {
  return new Date(at).toISOString().replace("Z", "+0000");
}
