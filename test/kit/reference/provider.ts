import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { Failure } from "../fixture.ts";

/** A page, or a comment on one; what the provider keeps of it. */
export interface Page {
  id: string;
  space: string;
  title: string;
  text: string;
  /** Rises with each edit, and with nothing else. */
  revision: number;
  /** The page that this is a comment on. */
  on?: string;
  /** The comment that this one answers. */
  answers?: string;
  /** The id that it had until it was renamed. */
  formerly?: string;
}

export interface Space {
  id: string;
  name: string;
  /** Everybody may read it, signed in or not. */
  isPublic: boolean;
}

interface User {
  id: string;
  email: string;
  state: "active" | "suspended";
}

type Change = { seq: number } & ({ page: string } | { space: string });
type PeopleChange = { seq: number } & ({ user: string } | { group: string; member?: string; removed?: true });

interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ProviderOptions {
  pageSize?: number;
  /** Told of each request before it is answered. */
  before?(path: string): void;
  /** What ends it; with the test unless told. */
  atEnd?(end: () => void): void;
}

export const TOKEN = "kb-canary-7d20e5";
/** Of another account, which sees fewer spaces. */
export const OTHER_TOKEN = "kb-canary-41fa9c";
const SEEN_BY_OTHER: ReadonlySet<string> = new Set(["a", "c"]);
/** How long it notifies somebody who does not ask again. */
const SUBSCRIBED_SECONDS = 7 * 24 * 3_600;
export const WEBHOOK_SECRET = "kb-canary-hook-90c1";

/**
 * The reference provider: a wiki of a few pages on 127.0.0.1, with spaces, comments, people, teams in teams, a feed of
 * changes that forgets, and answers that can be made to fail. Its methods are what people do there; anyone who wants to know
 * what a source can learn of it reads `route`.
 *
 * Who is in a group is kept by the group's id, `space:<id>` or `team:<id>`; members are ids of users (`u1`) and of groups.
 */
export async function startProvider({ pageSize = 2, before, atEnd = onTestFinished }: ProviderOptions = {}) {
  const pages = new Map<string, Page>();
  const spaces = new Map<string, Space>();
  const users = new Map<string, User>();
  const groups = new Map<string, Set<string>>();
  /** Who is notified, and signed with what, by the id of the subscription. */
  const subscriptions = new Map<string, { url: string; secret: string }>();
  const changes: Change[] = [];
  const peopleChanges: PeopleChange[] = [];
  let [seq, forgottenUpTo, requests, renames, subscribed] = [0, 0, 0, 0, 0];
  /** `id` is what is refused, `broken` the space that the provider fails at beside it. */
  let failing: { kind: Failure; id: string; broken?: string } | undefined;
  /** Where the links of its listings lead; its own origin unless told. */
  let linkOrigin: string | undefined;
  const hanging = new Set<ServerResponse>();

  const server = createServer((request, response) => {
    requests++;
    before?.(request.url ?? "");
    if (failing?.kind === "unreachable") return void request.socket.destroy();
    if (failing?.kind === "hang") return void hanging.add(response);
    const answer = ({ status, body = {}, headers = {} }: Answer) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    if (request.method === "POST") void text(request).then((said) => answer(route(request, said)));
    else answer(route(request));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Everything a source can ask. */
  function route({ url = "", headers, method }: IncomingMessage, said = ""): Answer {
    const { pathname, searchParams } = new URL(url, origin);
    const isOther = headers.authorization === `Bearer ${OTHER_TOKEN}`;
    if (!(isOther || headers.authorization === `Bearer ${TOKEN}`) || failing?.kind === "unauthorized")
      return { status: 401 };
    const sees = (space: string | undefined) => !isOther || SEEN_BY_OTHER.has(space ?? "");
    if (failing?.kind === "rate_limited") return { status: 429, headers: { "retry-after": "30" } };
    const [, kind = "", id = "", part = ""] = pathname.split("/").map(decodeURIComponent);
    const since = Number(searchParams.get("since"));
    switch (`${kind}${id === "" ? "" : "/:id"}${part === "" ? "" : `/${part}`}`) {
      case "me":
        return { status: 200, body: { name: "Reference", latest: seq } };
      case "spaces":
        return page(
          pathname,
          [...spaces.values()].filter((space) => sees(space.id)),
          searchParams,
        );
      case "spaces/:id/pages":
        if (failing?.broken === id) return { status: 500 };
        if ((failing?.kind === "one_container" || failing?.kind === "two_containers") && failing.id === id)
          return { status: 403 };
        if (!sees(id)) return { status: 404 };
        return page(
          pathname,
          [...pages.values()].filter(({ space }) => space === id),
          searchParams,
        );
      case "pages/:id":
        return pages.has(id) && sees(pages.get(id)?.space) ? { status: 200, body: pages.get(id) } : { status: 404 };
      case "pages/:id/text": {
        if (failing?.kind === "one_item" && failing.id === id) return { status: 403 };
        const found = pages.get(id);
        return found && sees(found.space)
          ? { status: 200, body: { text: found.text, revision: found.revision } }
          : { status: 404 };
      }
      case "changes":
        return since < forgottenUpTo
          ? { status: 410 }
          : { status: 200, body: { changes: feedSince(since), latest: seq } };
      case "subscriptions": {
        // Written by the source, which is what is tried here.
        const { url: to, secret } = JSON.parse(said) as { url: string; secret: string };
        const made = `subscription-${++subscribed}`;
        subscriptions.set(made, { url: to, secret });
        return { status: 201, body: { id: made, expiresIn: SUBSCRIBED_SECONDS } };
      }
      case "subscriptions/:id":
        return { status: method === "DELETE" && subscriptions.delete(id) ? 200 : 404 };
      case "users":
        return page(pathname, [...users.values()], searchParams);
      case "groups":
        return page(
          pathname,
          [...groups.keys()].map((group) => groupOf(group)),
          searchParams,
        );
      case "groups/:id":
        return groups.has(id) ? { status: 200, body: groupOf(id) } : { status: 404 };
      case "people-changes": {
        if (since < forgottenUpTo) return { status: 410 };
        const found = peopleChanges.filter((change) => change.seq > since);
        const told = found.map((change) =>
          "user" in change ? { ...change, is: users.get(change.user) ?? null } : change,
        );
        return { status: 200, body: { changes: told, latest: seq } };
      }
      default:
        return { status: 404 };
    }
  }

  /** A page of a listing in the order of the ids, with the link to the next. */
  function page(path: string, all: readonly { id: string }[], params: URLSearchParams): Answer {
    const after = params.get("after") ?? "";
    const left = all.filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
    const values = left.slice(0, pageSize);
    const next = `${linkOrigin ?? origin}${path}?after=${encodeURIComponent(values.at(-1)?.id ?? "")}`;
    return { status: 200, body: { values, ...(left.length > pageSize && { next }) } };
  }

  /** The newest change of each page and space: what it is now, or that it is gone. */
  function feedSince(since: number): unknown[] {
    const newest = new Map<string, unknown>();
    for (const change of changes.filter((each) => each.seq > since)) {
      const [key, told] =
        "page" in change
          ? [`page ${change.page}`, { ...change, is: pages.get(change.page) ?? null }]
          : [`space ${change.space}`, { ...change, is: spaces.get(change.space) ?? null }];
      newest.delete(key);
      newest.set(key, told);
    }
    return [...newest.values()];
  }

  function groupOf(id: string): { id: string; members: string[]; isPublic: boolean; etag: string } {
    const members = [...(groups.get(id) ?? [])].sort();
    const isPublic = id.startsWith("space:") && spaces.get(id.slice("space:".length))?.isPublic === true;
    return { id, members, isPublic, etag: `${members.join(" ")}${isPublic ? " *" : ""}` };
  }

  function putPage(id: string, more: Partial<Page> = {}): string {
    const former = pages.get(id);
    const made: Page = { id, space: "a", title: `Page ${id}`, text: `Text of ${id}.`, revision: 0, ...former, ...more };
    pages.set(id, { ...made, revision: made.revision + 1 });
    changes.push({ seq: ++seq, page: id });
    return id;
  }

  /** With its comments, which go where it goes. */
  const withComments = (id: string) => [...pages.values()].filter((each) => each.id === id || each.on === id);

  function setMembers(group: string, members: readonly string[]): void {
    const before = groups.get(group) ?? new Set();
    groups.set(group, new Set(members));
    for (const member of members) if (!before.has(member)) peopleChanges.push({ seq: ++seq, group, member });
    for (const member of before) {
      if (!members.includes(member)) peopleChanges.push({ seq: ++seq, group, member, removed: true });
    }
  }

  /** Whether a group has this member, itself or by the groups in it. */
  function holds(group: string, userId: string, seen = new Set<string>()): boolean {
    if (seen.has(group)) return false;
    seen.add(group);
    const members = [...(groups.get(group) ?? [])];
    return members.includes(userId) || members.some((member) => holds(member, userId, seen));
  }

  return {
    origin,
    pages,
    /** Requests that came so far. */
    requests: () => requests,
    /** The number of the last change. */
    latest: () => seq,
    putPage,
    putSpace(id: string, { members = [], isPublic = false }: { members?: string[]; isPublic?: boolean } = {}): void {
      const before = groupOf(`space:${id}`);
      spaces.set(id, { id, name: `Space ${id}`, isPublic });
      changes.push({ seq: ++seq, space: id });
      setMembers(`space:${id}`, members);
      // A feed of members has no word for everybody: the group is to be read whole.
      if (before.isPublic !== isPublic) peopleChanges.push({ seq: ++seq, group: `space:${id}` });
    },
    putUser(id: string, state: User["state"] = "active"): void {
      users.set(id, { id, email: `${id}@acme.test`, state });
      peopleChanges.push({ seq: ++seq, user: id });
    },
    removePage(id: string): void {
      for (const gone of withComments(id)) {
        pages.delete(gone.id);
        changes.push({ seq: ++seq, page: gone.id });
      }
    },
    /** As when a page goes to another wiki: it is the same page, and its id is another. */
    renamePage(id: string): string {
      const former = pages.get(id);
      if (!former) throw new Error(`There is no page ${id}.`);
      const to = `${former.formerly === undefined ? id : id.split("-")[0]}-${++renames}`;
      pages.delete(id);
      putPage(to, { ...former, id: to, formerly: id });
      changes.push({ seq: ++seq, page: id });
      return to;
    },
    movePage(id: string, space: string): void {
      for (const moved of withComments(id)) {
        pages.set(moved.id, { ...moved, space });
        changes.push({ seq: ++seq, page: moved.id });
      }
    },
    removeSpace(id: string): void {
      for (const gone of [...pages.values()].filter(({ space }) => space === id)) pages.delete(gone.id);
      spaces.delete(id);
      groups.delete(`space:${id}`);
      changes.push({ seq: ++seq, space: id });
      peopleChanges.push({ seq: ++seq, group: `space:${id}` });
    },
    setMembers,
    /** Those that it was in name it still: a group that is gone has nobody. */
    removeGroup(id: string): void {
      groups.delete(id);
      peopleChanges.push({ seq: ++seq, group: id });
    },
    removeUser(id: string): void {
      users.delete(id);
      for (const [group, members] of groups)
        if (members.has(id))
          setMembers(
            group,
            [...members].filter((one) => one !== id),
          );
      peopleChanges.push({ seq: ++seq, user: id });
    },
    people: () => [...users.values()].filter(({ state }) => state === "active").map(({ id, email }) => ({ id, email })),
    /** Who may read a page here, by the ids of the users. */
    readersOf(pageId: string): string[] {
      const space = spaces.get(pages.get(pageId)?.space ?? "");
      if (!space) return [];
      const active = [...users.values()].filter(({ state }) => state === "active");
      return active
        .filter(({ id }) => space.isPublic || holds(`space:${space.id}`, id))
        .map(({ id }) => id)
        .sort();
    },
    /** The feeds forget what was before. */
    forgetChanges(): void {
      forgottenUpTo = ++seq;
    },
    fail(kind: Failure, id = "", broken?: string): void {
      failing = { kind, id, ...(broken !== undefined && { broken }) };
    },
    heal(): void {
      failing = undefined;
      // A caller that still waits is told nothing: the connection ends.
      for (const response of hanging) response.destroy();
      hanging.clear();
    },
    /** Ids of the pages that the other account sees. */
    seenByOther: () => [...pages.values()].filter(({ space }) => SEEN_BY_OTHER.has(space)).map(({ id }) => id),
    /** What is sent to those who want to know of a page, once it changed. */
    notificationOf(pageId: string, secret = WEBHOOK_SECRET): { headers: Headers; rawBody: Uint8Array } {
      const rawBody = Buffer.from(JSON.stringify({ seq, page: pages.has(pageId) ? pageId : null }));
      const signature = createHmac("sha256", secret).update(rawBody).digest("hex");
      return { headers: new Headers({ "x-reference-signature": signature }), rawBody };
    },
    subscriptions: () => [...subscriptions.values()],
    isPublic: (pageId: string) => spaces.get(pages.get(pageId)?.space ?? "")?.isPublic === true,
    leadLinksTo(other: string): void {
      linkOrigin = other;
    },
  };
}
