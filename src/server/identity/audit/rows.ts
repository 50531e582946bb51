import type { Actor, Credential } from "#storage/access/actor.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { AuditPerson } from "./recorder.ts";
import type { AuditAct } from "#storage/audit-act.ts";

export function rowOf(actor: Actor, act: AuditAct, now: number): NewAuditRecord {
  return makeRow(
    act,
    {
      actorUserId: actor.userId,
      credential: describeCredential(actor.credential),
      ip: actor.origin?.clientIp ?? null,
      requestId: actor.origin?.requestId ?? null,
    },
    now,
  );
}

/** Makes the row of an action of the server, or of a person without an actor. */
export function systemRowOf(act: AuditAct, who: AuditPerson, now: number): NewAuditRecord {
  return makeRow(
    act,
    {
      actorUserId: who.userId ?? null,
      credential: "system",
      ip: who.clientIp ?? null,
      requestId: who.requestId ?? null,
    },
    now,
  );
}

/** Returns `session:ses_…`, `pat:tok_…` or `oauth:…`. */
export function describeCredential(credential: Credential): string {
  return `${credential.type}:${credential.id}`;
}

/** Returns the ids in a row: of the person, the credential and the target, and those in its details. */
export function idsOf({ actorUserId, credential, targetId, details }: NewAuditRecord): string[] {
  const named = textsIn(details).map((text) => PRINCIPAL.exec(text)?.[1] ?? text);
  return [
    ...(actorUserId === null ? [] : [actorUserId]),
    credential.slice(credential.indexOf(":") + 1),
    targetId,
    ...named,
  ];
}

/** A member or group of the workspace, as a principal. */
const PRINCIPAL = /^(?:user|group):((?:usr|grp)_.*)$/;

/** Returns every text in a value, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

type Who = Pick<NewAuditRecord, "actorUserId" | "credential" | "ip" | "requestId">;

function makeRow(act: AuditAct, who: Who, now: number): NewAuditRecord {
  return {
    ...who,
    at: now,
    action: act.action,
    targetType: act.target.type,
    targetId: act.target.id,
    outcome: act.outcome ?? "done",
    details: act.details ?? {},
  };
}
