import type { User } from "#api/session.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { UserRecord } from "#storage/records/people.ts";

/** Converts a person to the contract's form. */
export function toUser(user: UserRecord): User {
  return {
    id: user.userId,
    name: user.name,
    email: user.email,
    emailVerifiedAt: isoOrNull(user.emailVerifiedAt),
    timeZone: user.timeZone,
    createdAt: isoOf(user.createdAt),
  };
}
