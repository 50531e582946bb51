import { mayName, parsePrincipal, type Authority, type Principal } from "#core/principals.ts";
import { defined } from "#core/defined.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { storable } from "#server/sync/items/storable-text.ts";
import type { GroupPages } from "#storage/batch/group-pages.ts";
import type { PeopleEvent } from "#storage/people-batch.ts";

/** A source's report about groups and users, in a separate run or between items. */
export type ReportedEvent = Exclude<IdentityEvent, { t: "checkpoint" | "end" }> & { homes?: readonly string[] };

/** The data to store for an event, and the number of principals in it that the connector may not name. */
export interface JudgedEvent {
  events: PeopleEvent[];
  strangers: number;
}

/**
 * Reduces an event to what the connector's authority allows: the connector's groups and the users of its instance.
 * Members that the connector may not name are left out. Reports about another connector's groups or users are ignored.
 * Source: S2.
 */
export function authorizeEvent(event: ReportedEvent, authority: Authority, pages: GroupPages, at: number): JudgedEvent {
  const isOwn = (principal: Principal, type: "source_group" | "source_user") =>
    parsePrincipal(principal)?.type === type && mayName(principal, authority);
  const isOwnGroup = (group: Principal) => isOwn(group, "source_group");
  switch (event.t) {
    case "group": {
      const { group, etag, more, homes } = event;
      if (!isOwnGroup(group)) return { events: [], strangers: 1 };
      const members = event.members.filter((member) => member !== group && mayName(member, authority));
      const whole = pages.add({ group, members, hasMore: more === true, at, ...defined({ etag, homes }) });
      return { events: whole ? [whole] : [], strangers: event.members.length - members.length };
    }
    case "group_same": {
      const groups = event.groups.filter(isOwnGroup);
      return { events: [{ t: "group_same", groups, at }], strangers: event.groups.length - groups.length };
    }
    case "member": {
      const { group, member, removed = false } = event;
      const isFine = isOwnGroup(group) && member !== group && (removed || mayName(member, authority));
      return isFine
        ? { events: [{ t: "member", group, member, isRemoved: removed }], strangers: 0 }
        : { events: [], strangers: 1 };
    }
    case "identity": {
      const { principal, state, name, login, email, sameAs = [] } = event;
      const isUser = (user: Principal) => isOwn(user, "source_user");
      if (!isUser(principal)) return { events: [], strangers: 1 };
      const others = sameAs.filter(isUser);
      const identity: PeopleEvent = {
        t: "identity",
        principal,
        state,
        name: cut(name),
        login: cut(login),
        email: email === undefined || email.address.length > MOST_CHARS ? null : cut(email.address),
        isEmailVerified: email?.isVerified === true,
        sameAs: others,
        at,
      };
      return { events: [identity], strangers: sameAs.length - others.length };
    }
  }
}

const MOST_CHARS = 300;

function cut(text: string | undefined): string | null {
  const clean = text === undefined ? "" : storable(text).trim().slice(0, MOST_CHARS);
  return clean === "" ? null : clean;
}
