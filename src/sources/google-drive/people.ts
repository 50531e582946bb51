import { defined } from "#core/defined.ts";
import { unavailable } from "#sources/errors.ts";
import { parsePrincipal, type Principal } from "#core/principals.ts";
import { groupPages } from "#sources/group-pages.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { type DriveContext, type DriveClient, fromDirectory } from "./client.ts";
import type { AddressBook } from "./directory.ts";
import { domainGroupId, domainOf, makeReaders, ORGANIZATION } from "./readers.ts";
import type { DirectoryUser } from "./records.ts";

/** The most people who are suspended in one run. If there are more, the next run suspends the rest. */
const MOST_DUE = 1_000;

/**
 * Reports the account itself, and everyone in the organization if the account can read the directory. People are
 * identified by the ids that permissions use, which the directory doesn't contain.
 */
export async function* syncGooglePeople(
  ctx: DriveContext,
  client: DriveClient,
  book: AddressBook,
  { mode, due }: IdentityRun,
): AsyncGenerator<IdentityEvent<null>, void> {
  const me = await client.me();
  const readers = makeReaders(ctx, me);
  const verified = (await fromDirectory(() => client.domains())) ?? [];
  const groups = new Map<Principal, Principal[]>(
    [ORGANIZATION, ...verified.map(domainGroupId)].map((id) => [readers.group(id), []]),
  );
  const reported = new Set<Principal>();
  let hasMe = false;
  let isKnown = false;
  const pages = client.users();
  for (;;) {
    const page = await fromDirectory(() => pages.next());
    // If the first page is refused, the users are unknown. If a later page is missing, that is an error.
    if (page === undefined && isKnown) throw unavailable("Google's list of users ended early.");
    if (page === undefined || page.done === true) break;
    isKnown = true;
    for (const user of page.value.users) {
      ctx.signal.throwIfAborted();
      const id = await book.idOf(client, { id: user.id, email: user.primaryEmail }, ctx.now());
      if (id === undefined) continue;
      hasMe ||= id === me.permissionId;
      const [principal = ""] = readers.user(id);
      const [ownId] = readers.user(user.id);
      reported.add(principal).add(ownId ?? principal);
      const isActive = user.suspended !== true && user.archived !== true;
      yield {
        t: "identity",
        principal,
        state: isActive ? "active" : "suspended",
        ...nameOf(user),
        login: user.primaryEmail,
        email: { address: user.primaryEmail, isVerified: verified.includes(domainOf(user.primaryEmail) ?? "") },
        // The directory's own id is the id of the account when the person signs in.
        ...(ownId !== undefined && { sameAs: [ownId] }),
      };
      if (!isActive) continue;
      for (const group of [ORGANIZATION, domainGroupId(domainOf(user.primaryEmail) ?? "")])
        groups.get(readers.group(group))?.push(principal);
    }
  }
  if (!hasMe) {
    const [principal = "", own] = readers.me;
    reported.add(principal).add(own ?? principal);
    yield {
      t: "identity",
      principal,
      state: "active",
      ...defined({ name: me.displayName }),
      ...(me.emailAddress !== undefined && {
        login: me.emailAddress,
        email: { address: me.emailAddress, isVerified: false },
      }),
      ...(own !== undefined && { sameAs: [own] }),
    };
  }
  // The directory doesn't list people who have left it.
  for await (const principal of mode === "changes" && isKnown ? due(MOST_DUE) : []) {
    const isUser = parsePrincipal(principal)?.type === "source_user";
    if (isUser && !reported.has(principal)) yield { t: "identity", principal, state: "suspended" };
  }
  for (const [group, members] of isKnown ? groups : []) yield* groupPages(group, members);
  yield { t: "checkpoint", cursor: null };
  yield { t: "end", listing: mode === "groups" ? "partial" : "complete" };
}

function nameOf({ name }: DirectoryUser): { name?: string } {
  return name?.fullName === undefined ? {} : { name: name.fullName };
}
