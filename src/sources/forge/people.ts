import { halfRead } from "#sources/listed.ts";
import { sourceGroup, principalsOf } from "#sources/principals.ts";
import { z } from "zod";
import { parsePrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import { groupPages } from "#sources/group-pages.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";

/** The users and groups of the last complete reading. Those that are missing later no longer exist. */
export type PeopleCursor = z.infer<typeof PeopleCursor>;

export type PeopleFact = Extract<IdentityEvent, { t: "group" | "identity" }>;

/** Some groups and users could not be read. Those that were reported before stay until their last reading expires. */
type Unread = { t: "unread" };

export interface PeopleReader {
  /** Reads every user and every group in their present state. */
  all(): AsyncGenerator<PeopleFact | Unread, void>;
  /** Reads one group by its id at the source; undefined if it doesn't exist. */
  group(id: string): Promise<PeopleFact | undefined>;
  /**
   * Whether the server has removed a user who is no longer reported. A user who only lost access to the repositories
   * read here still exists.
   */
  isGone(id: string): Promise<boolean>;
}

/** Makes functions that build facts about users, teams and repositories from their ids. */
export function factsFor(ctx: Pick<SourceContext<unknown>, "connector">, providerId: string) {
  const { user, group } = principalsOf(ctx, providerId);
  const report = (id: string, members: readonly Principal[]): PeopleFact => ({
    t: "group",
    group: group(id),
    members: [...new Set(members)],
  });
  const reportUsers = (id: string, users: readonly { id: number }[]) =>
    report(
      id,
      users.map((each) => user(each.id)),
    );
  return { user, group, report, reportUsers };
}

/**
 * Checks that every repository was parsed.
 * @throws ApiError if a repository could not be parsed: its readers stay as last reported
 */
export function requireWhole<L extends { isWhole: boolean; odd: readonly string[] }>(listing: L): L {
  if (!listing.isWhole || listing.odd.length > 0)
    throw halfRead("kb doesn't understand all of the list of repositories.");
  return listing;
}

/**
 * Reports people and groups. Forges have no feed of membership changes, so a run of `changes` reads everything too, and
 * determines which users and groups no longer exist. It costs as much as a whole run, which is little because access is
 * granted by teams to their repositories.
 */
export async function* reportPeople(
  ctx: Pick<SourceContext<unknown>, "connector" | "signal">,
  run: IdentityRun,
  reader: PeopleReader,
): AsyncGenerator<IdentityEvent<PeopleCursor>, void> {
  if (run.mode === "groups") {
    for (const group of run.groups ?? []) {
      const parsed = parsePrincipal(group);
      if (parsed?.type !== "source_group" || parsed.connectorId !== ctx.connector.id) continue;
      yield* inFull((await reader.group(parsed.id)) ?? { t: "group", group, members: [] });
    }
    yield { t: "end", listing: "partial" };
    return;
  }
  const before = PeopleCursor.safeParse(run.cursor).data ?? { users: [], groups: [] };
  const [users, groups] = [new Set<Principal>(), new Set<Principal>()];
  let isWhole = true;
  for await (const event of reader.all()) {
    ctx.signal.throwIfAborted();
    if (event.t === "unread") {
      isWhole = false;
      continue;
    }
    if (event.t === "identity") users.add(event.principal);
    else groups.add(event.group);
    yield* inFull(event);
  }
  const missing = before.groups.map((id) => sourceGroup(ctx.connector.id, id)).filter((group) => !groups.has(group));
  const unread = isWhole ? [] : [...missing, ...before.users.filter((principal) => !users.has(principal))];
  if (isWhole) for (const group of missing) yield { t: "group", group, members: [] };
  else for (const group of missing) groups.add(group);
  for (const principal of before.users) {
    const parsed = users.has(principal) ? undefined : parsePrincipal(principal);
    if (parsed?.type === "source_user" && (await reader.isGone(parsed.id)))
      yield { t: "identity", principal, state: "gone" };
    else if (!isWhole) users.add(principal);
  }
  const ids = [...groups].flatMap((group) => {
    const parsed = parsePrincipal(group);
    return parsed?.type === "source_group" ? [parsed.id] : [];
  });
  yield { t: "checkpoint", cursor: { users: [...users], groups: ids } };
  yield { t: "end", listing: "complete", ...(unread.length > 0 && { notLookedAt: unread }) };
}

function* inFull(fact: PeopleFact): Generator<PeopleFact, void> {
  if (fact.t === "group") yield* groupPages(fact.group, fact.members);
  else yield fact;
}

const PeopleCursor = z.object({ users: z.array(z.string()), groups: z.array(z.string()) });
