/**
 * An act to record in the audit. It contains only ids, numbers and kb's own words: no titles, no secrets, no query
 * text.
 */
export interface AuditAct {
  /** `<noun>.<past participle>`, such as `connector.created` or `member.removed`. */
  action: string;
  target: { type: string; id: string };
  /** Default: `done`. */
  outcome?: "done" | "refused";
  details?: Record<string, unknown>;
}

/** The type of an act's target, by the first word of the action, where the two differ. */
const TARGETS: Readonly<Record<string, string>> = { member: "user", person: "user", consent: "grant" };

/**
 * Makes an act on the target that the first word of the action names: `actOn(groupId, "group.deleted")` is about a
 * group.
 */
export function actOn(id: string, action: string, details: Record<string, unknown> = {}): AuditAct {
  const noun = action.slice(0, action.indexOf("."));
  return { action, target: { type: TARGETS[noun] ?? noun, id }, details };
}
