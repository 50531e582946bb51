import { z } from "zod";
import { formatPrincipal, parsePrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";

/** The users and groups of the last full reading: those missing later are gone. */
export type PeopleCursor = z.infer<typeof PeopleCursor>;

export type PeopleFact = Extract<IdentityEvent, { t: "group" | "identity" }>;

export interface PeopleReader {
  /** Every user and every group, as they are now. */
  all(): AsyncGenerator<PeopleFact, void>;
  /** One group by its id at the source; undefined when there is none. */
  group(id: string): Promise<PeopleFact | undefined>;
  /**
   * Whether the server has removed a user who is no longer reported. A user who only left the repositories read here
   * isn't gone.
   */
  isGone(id: string): Promise<boolean>;
}

/**
 * Forges have no feed of membership changes. So a run of `changes` reads everything too, and itself determines which
 * users and groups are gone; it costs as much as a whole run, which by teams and their repositories is little.
 */
export async function* tellPeople(
  ctx: Pick<SourceContext<unknown>, "connector" | "signal">,
  run: IdentityRun,
  reader: PeopleReader,
): AsyncGenerator<IdentityEvent<PeopleCursor>, void> {
  if (run.mode === "groups") {
    for (const group of run.groups ?? []) {
      const parsed = parsePrincipal(group);
      if (parsed?.type !== "source_group" || parsed.connectorId !== ctx.connector.id) continue;
      yield* inPages((await reader.group(parsed.id)) ?? { t: "group", group, members: [] });
    }
    yield { t: "end", listing: "partial" };
    return;
  }
  const before = PeopleCursor.safeParse(run.cursor).data ?? { users: [], groups: [] };
  const [users, groups] = [new Set<Principal>(), new Set<Principal>()];
  for await (const event of reader.all()) {
    ctx.signal.throwIfAborted();
    if (event.t === "identity") users.add(event.principal);
    else groups.add(event.group);
    yield* inPages(event);
  }
  for (const group of before.groups) {
    const principal = formatPrincipal({ type: "source_group", connectorId: ctx.connector.id, id: group });
    if (!groups.has(principal)) yield { t: "group", group: principal, members: [] };
  }
  for (const principal of before.users) {
    const parsed = users.has(principal) ? undefined : parsePrincipal(principal);
    if (parsed?.type === "source_user" && (await reader.isGone(parsed.id)))
      yield { t: "identity", principal, state: "gone" };
  }
  const ids = [...groups].flatMap((group) => {
    const parsed = parsePrincipal(group);
    return parsed?.type === "source_group" ? [parsed.id] : [];
  });
  yield { t: "checkpoint", cursor: { users: [...users], groups: ids } };
  yield { t: "end", listing: "complete" };
}

/** Members of one event. */
const MOST_MEMBERS = 5_000;

function* inPages(fact: PeopleFact): Generator<PeopleFact, void> {
  if (fact.t !== "group" || fact.members.length <= MOST_MEMBERS) return yield fact;
  for (let at = 0; at < fact.members.length; at += MOST_MEMBERS) {
    const isLast = at + MOST_MEMBERS >= fact.members.length;
    yield { ...fact, members: fact.members.slice(at, at + MOST_MEMBERS), ...(!isLast && { more: true as const }) };
  }
}

const PeopleCursor = z.object({ users: z.array(z.string()), groups: z.array(z.string()) });
