import type { User } from "#api/session.ts";
import type { UserRecord } from "#storage/records/people.ts";

/** A person as the contract shows one. */
export function toUser(user: UserRecord): User {
  return {
    id: user.userId,
    name: user.name,
    email: user.email,
    emailVerifiedAt: user.emailVerifiedAt?.toISOString() ?? null,
    timeZone: user.timeZone,
    createdAt: user.createdAt.toISOString(),
  };
}
