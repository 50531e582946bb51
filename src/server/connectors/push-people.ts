import { actOn } from "#storage/audit-act.ts";
import { ApiError } from "#api/errors.ts";
import type { PushResult } from "#api/connector-records.ts";
import type { PushedLine, PushPeopleEvent } from "#sources/push/events.ts";
import type { Principal } from "#core/principals.ts";
import type { PushResultName } from "#storage/records/push-uploads.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { type Answer, principalRefused, refused, toResult, failuresOf } from "./push-answers.ts";
import { makeAuthority, principalsOf, type PushAuthority } from "./push-authority.ts";
import type { PushDeps, PushTarget } from "./push-deps.ts";

/** A pushed line about the connector's own people and groups. */
export type PeopleLine = Extract<PushedLine, { event: PushPeopleEvent }>;

/**
 * Stores the members of the connector's groups and the identities of its users, in one transaction with the upload. The
 * change applies from the next request of each person.
 *
 * @throws ApiError `push_upload_over`; then nothing is stored
 */
export async function storePeople(
  deps: PushDeps,
  { caller, connector, uploadId }: PushTarget,
  lines: readonly PeopleLine[],
): Promise<PushResult[]> {
  const authority = await makeAuthority(deps, caller, principalsOf(lines));
  return deps.store.transaction(async (tx) => {
    const workspace = tx.in(caller.workspaceId);
    const answers: Answer[] = [];
    const came = { added: new Set<Principal>(), removed: new Set<Principal>() };
    for (const line of lines) {
      const offending = offendingOf(line.event, authority);
      answers.push(
        offending.length > 0
          ? refused(line, principalRefused(offending, "It"))
          : {
              line: line.line,
              externalId: null,
              notes: line.notes,
              fixed: await store(workspace, connector, line.event, came),
            },
      );
    }
    const changed = answers.filter(({ fixed }) => fixed === "upserted" || fixed === "removed").length;
    if (changed > 0) {
      const details = {
        changed,
        keyId: caller.keyId,
        isWidened: came.added.size > 0,
        added: named(came.added),
        removed: named(came.removed),
      };
      await deps.audit.recordSystem(
        tx,
        caller.workspaceId,
        actOn(connector.connectorId, "connector.people_pushed", details),
      );
    }
    if (uploadId !== undefined) await acknowledge(deps, workspace, uploadId, answers);
    return answers.map((answer) => toResult(answer));
  });
}

/** The principals that a line may not name. Source: S2. */
function offendingOf(event: PushPeopleEvent, authority: PushAuthority): Principal[] {
  if (event.t === "identity") {
    const { principal, member } = event;
    const isFine = member === null || authority.isMember(member);
    return [...(authority.owns(principal, "source_user") ? [] : [principal]), ...(isFine ? [] : [member])];
  }
  const { group } = event;
  // A removed member may already have left the workspace, so a removal is always allowed.
  const members = event.t === "group" ? event.members : event.remove ? [] : [event.member];
  return [
    ...(authority.owns(group, "source_group") ? [] : [group]),
    ...members.filter((member) => member === group || !authority.mayBelong(member)),
  ];
}

/** Members added to groups and removed from them, in all lines of a slice. */
interface Came {
  added: Set<Principal>;
  removed: Set<Principal>;
}

/** Maximum number of members of the workspace that one audit row names. */
const MAX_NAMED = 50;

/**
 * Returns the number of principals, and the members and groups of the workspace among them. The audit log contains no
 * text from the source.
 */
function named(principals: ReadonlySet<Principal>): { count: number; ids: Principal[] } {
  const own = [...principals].filter((name) => /^(?:user:usr_|group:grp_|workspace$)/.test(name));
  return { count: principals.size, ids: own.slice(0, MAX_NAMED) };
}

async function store(
  { access }: WorkspaceStore,
  { connectorId }: PushTarget["connector"],
  event: PushPeopleEvent,
  came: Came,
): Promise<PushResultName> {
  switch (event.t) {
    case "member": {
      const change = { add: event.remove ? [] : [event.member], remove: event.remove ? [event.member] : [] };
      const wasThere = (await access.changeMembers(event.group, change, connectorId)).has(event.member);
      if (event.remove ? wasThere : !wasThere) (event.remove ? came.removed : came.added).add(event.member);
      if (event.remove) return wasThere ? "removed" : "absent";
      return wasThere ? "unchanged" : "upserted";
    }
    case "identity":
      return setAll(access, event.principal, event.member === null ? [] : [event.member], { connectorId, came });
    case "group":
      return setAll(access, event.group, event.members, { connectorId, came });
  }
}

async function setAll(
  access: WorkspaceStore["access"],
  group: Principal,
  members: readonly Principal[],
  { connectorId, came }: { connectorId: string; came: Came },
): Promise<PushResultName> {
  const before = new Set(await access.membersOf(group));
  const after = new Set(members);
  if (before.size === after.size && [...after].every((member) => before.has(member))) return "unchanged";
  for (const member of after) if (!before.has(member)) came.added.add(member);
  for (const member of before) if (!after.has(member)) came.removed.add(member);
  await access.setMembers(group, [...after], connectorId);
  return after.size === 0 ? "removed" : "upserted";
}

async function acknowledge(
  deps: PushDeps,
  { pushUploads }: WorkspaceStore,
  uploadId: string,
  answers: readonly Answer[],
): Promise<void> {
  const counts: Partial<Record<PushResultName, number>> = {};
  for (const { fixed = "error" } of answers) counts[fixed] = (counts[fixed] ?? 0) + 1;
  const ack = { lines: answers.at(-1)?.line ?? null, counts, failures: failuresOf(answers), unnamed: 0 };
  if (await pushUploads.acknowledge(uploadId, ack, deps.clock.now())) return;
  throw new ApiError("push_upload_over", { message: "The upload is closed." });
}
