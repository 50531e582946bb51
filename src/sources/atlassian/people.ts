import { parsePrincipal, type Principal } from "#core/principals.ts";
import { groupPages } from "#sources/group-pages.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import type { Names } from "./names.ts";

type Event = IdentityEvent<null>;

/** A user of Cloud by an account id that never changes, one of Data Center by a key; `name` is the login name. */
export interface AtlassianUser {
  id?: string | undefined;
  active: boolean;
  displayName?: string | undefined;
  name?: string | undefined;
  emailAddress?: string | undefined;
}

/** A group by its id at the source, in full. */
export function* tellGroup(
  names: Names,
  id: string,
  members: readonly Principal[],
): Generator<Extract<Event, { t: "group" }>> {
  const group = names.group(id);
  if (group !== undefined) yield* groupPages(group, members);
}

export function* tellUser(
  { id, active, displayName, name, emailAddress }: AtlassianUser,
  names: Names,
): Generator<Event, void> {
  const principal = names.user(id);
  if (principal === undefined) return;
  const [shown, login, address] = [displayName, name, emailAddress].map((each) => each?.trim());
  yield {
    t: "identity",
    principal,
    // A deactivated account can be reactivated.
    state: active ? "active" : "suspended",
    ...(shown && { name: shown }),
    ...(login && { login }),
    // Atlassian doesn't report whether the address is verified.
    ...(address && { email: { address, isVerified: false } }),
  };
}

/** More than the groups and users that earlier runs can have reported. */
export const MOST_DUE = 1_000_000;

/**
 * Reports what was reported before and no longer exists, since a run of changes doesn't end what it leaves out.
 * @param isWhole  false when groups may be missing because reading them failed: then none ends
 */
export async function* tellGone(
  before: Iterable<Principal> | AsyncIterable<Principal>,
  told: ReadonlySet<Principal>,
  isWhole = true,
): AsyncGenerator<Event, void> {
  for await (const principal of before) {
    if (told.has(principal)) continue;
    const type = parsePrincipal(principal)?.type;
    if (type === "source_group" && isWhole) yield { t: "group", group: principal, members: [] };
    if (type === "source_user") yield { t: "identity", principal, state: "suspended" };
  }
}
