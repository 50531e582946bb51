/** An audited act. Only ids, numbers and our own words: no titles, no secrets, no query text. */
export interface AuditAct {
  /** `<noun>.<past participle>`: `connector.created`, `member.removed`. */
  action: string;
  target: { type: string; id: string };
  /** `done` by default. */
  outcome?: "done" | "refused";
  details?: Record<string, unknown>;
}

/** The first word of an act on something that is called otherwise. */
const TARGETS: Readonly<Record<string, string>> = { member: "user", person: "user", consent: "grant" };

/** An act on what its name begins with: `actOn(groupId, "group.deleted")` is about a group. */
export function actOn(id: string, action: string, details: Record<string, unknown> = {}): AuditAct {
  const noun = action.slice(0, action.indexOf("."));
  return { action, target: { type: TARGETS[noun] ?? noun, id }, details };
}
