import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "#api/audit.ts";
import { describeAct } from "./audit-words.ts";
import { describeCredential } from "#server/web/app/data/credential-words.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Names by id, as resolved by the server. */
type Names = ReadonlyMap<string, string>;

/**
 * Actions as sentences, newest first: who did what and, on a second line, with which credential, from where and when.
 */
export function Acts({ entries, names }: { entries: readonly AuditEntry[]; names: Names }) {
  return (
    <ul aria-label="Activity" className="divide-line @container divide-y">
      {entries.map((entry) => (
        <Act entry={entry} key={entry.seq} names={names} />
      ))}
    </ul>
  );
}

function Act({ entry, names }: { entry: AuditEntry; names: Names }) {
  return (
    <li className="py-2">
      <details>
        <summary className="hover:bg-ink/3 -mx-2 list-none rounded-md px-2 py-0.5 [&::-webkit-details-marker]:hidden">
          <ActLines entry={entry} names={names} />
        </summary>
        <Facts entry={entry} names={names} />
      </details>
    </li>
  );
}

/**
 * An action in two lines. The time is at the end of the first line if there is room, else at the start of the second.
 */
function ActLines({ entry, names }: { entry: AuditEntry; names: Names }) {
  const { at, credential, ip, outcome } = entry;
  const from = [credential === "system" ? null : describeCredential(credential, names), ip]
    .filter((part) => part !== null)
    .join(" · ");
  return (
    <>
      <span className="flex items-baseline justify-between gap-4">
        <span className="min-w-0 break-words">
          <Sentence entry={entry} names={names} /> {outcome === "refused" && <Badge tone="warn">Refused</Badge>}
        </span>
        <span className="text-muted shrink-0 text-xs @max-lg:hidden">
          <Time at={at} />
        </span>
      </span>
      <span className="text-muted block truncate text-xs">
        <span className="@lg:hidden">
          <Time at={at} />
          {from !== "" && " · "}
        </span>
        {from}
      </span>
    </>
  );
}

function Sentence({ entry, names }: { entry: AuditEntry; names: Names }) {
  return (
    <>
      <span className="font-medium">{subjectOf(entry, names)}</span>{" "}
      {describeAct(entry, names).map(({ text, isName }, at) => (
        // The parts of a sentence keep their positions.
        // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
        <span className={isName ? "font-medium wrap-anywhere" : ""} key={at}>
          {text}
        </span>
      ))}
    </>
  );
}

/**
 * Returns the actor. A push uses a connector's key, so no person acts. For a refused sign-in the person is unknown, but
 * the account is known.
 */
function subjectOf({ actorUserId, credential, action, targetId }: AuditEntry, names: Names): string {
  if (action === "session.refused") return names.get(targetId) ?? "A former member";
  if (actorUserId !== null) return names.get(actorUserId) ?? "A former member";
  return credential.startsWith("key:") || action.endsWith("_pushed") ? "A program" : "The server";
}

/** The row's content, unchanged. */
function Facts({ entry, names }: { entry: AuditEntry; names: Names }) {
  const { seq, at, action, actorUserId, credential, targetType, targetId, ip, requestId, details } = entry;
  const rows: [string, string | null][] = [
    ["row", String(seq)],
    ["at", at],
    ["action", action],
    ["actor", actorUserId],
    ["credential", credential],
    [targetType, targetId === "" ? null : targetId],
    ...Object.entries(details).map(([key, value]): [string, string] => [
      key,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
    ["ip", ip],
    ["request", requestId],
  ];
  return (
    <dl className="bg-sunken my-1.5 space-y-0.5 rounded-md px-3 py-2 font-mono text-xs">
      {rows.map(([label, value]) =>
        value === null ? null : (
          <div className="flex gap-3" key={label}>
            <dt className="text-muted w-24 shrink-0 truncate">{label}</dt>
            <dd className="min-w-0 wrap-anywhere">
              {label === "file" ? <Link to={`/i/${value}`}>{value}</Link> : value}
              {names.has(value) && <span className="text-muted font-sans"> {names.get(value)}</span>}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}
