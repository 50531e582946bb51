import type { Sync } from "./connector-records.ts";
import type { SourceUser, UnlinkedReason } from "./people.ts";

const REASONS: Record<UnlinkedReason, string> = {
  suspended: "suspended at the source",
  gone: "deleted at the source",
  instance_not_registered: "the instance is not registered",
  connector_not_admin_made: "no admin created the connector",
  email_missing: "no email address",
  email_not_verified: "the source didn't verify the email address",
  email_domain_not_listed: "the domain of the email address is not an identity domain",
  no_match: "no single member has this verified email address",
};

/** The display name of a source user. */
export function nameOfSourceUser({ name, login, principal }: Pick<SourceUser, "name" | "login" | "principal">): string {
  return name ?? login ?? principal;
}

/** Describes the member that a source user is linked to, or why there is none. */
export function describeLink({ member, linkedBy, reason }: Pick<SourceUser, "member" | "linkedBy" | "reason">): string {
  if (member === null) return reason === null ? "" : `Not linked: ${REASONS[reason]}`;
  const name = member.name === "" ? member.id : member.name;
  return linkedBy === null ? name : `${name} (${{ account: "account", email: "email", admin: "by hand" }[linkedBy]})`;
}

/** Describes people and groups that couldn't be read before a sync; undefined if all were read, or if that isn't known yet. */
export function describeUnread({ people }: Pick<Sync, "people">): string | undefined {
  // Servers of an earlier version don't report `people`.
  if (people?.state !== "failed" && people?.state !== "partial") return undefined;
  const what =
    people.state === "failed" ? "People and groups weren't read first" : "Not all groups could be read first";
  const why = people.problem === null ? "" : ` ${people.problem.message}`;
  return `${what}: anyone who lost access at the source may still find items here until people and groups are read.${why}`;
}
