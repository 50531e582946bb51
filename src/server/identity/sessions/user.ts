import { wireForm } from "#server/http/wire-form.ts";
import { User } from "#api/session.ts";
import type { UserRecord } from "#storage/records/people.ts";

/** Converts a person to the API's form. */
export function toUser(user: UserRecord): User {
  return wireForm(User, user, { id: user.userId });
}
