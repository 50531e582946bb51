import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AuditEntry } from "#api/audit.ts";
import { describeCredential } from "#server/web/app/credential-words.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { auditQuery, everybodyQuery } from "#server/web/app/data/queries.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button, buttonClass } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** What was done in the workspace, by whom, from where. */
export function Page() {
  return (
    <ForAdmins title="Audit">
      <Audit />
    </ForAdmins>
  );
}

function Audit() {
  const [userId, setUserId] = useState("");
  const [action, setAction] = useState("");
  const query = useInfiniteQuery(auditQuery({ ...(userId !== "" && { userId }), ...(action !== "" && { action }) }));
  const everybody = useQuery(everybodyQuery).data?.members ?? [];
  const names = new Map(everybody.map(({ userId, name }) => [userId, name]));
  return (
    <>
      <PageHeading
        action={
          <a className={buttonClass()} download href="/api/audit/export">
            Export
          </a>
        }
        title="Audit"
      >
        Acts of members, clients and the system, kept for 90 days. Each row is chained to the one before it.
      </PageHeading>
      <div className="space-y-5">
        <ChainCheck />
        <Section
          action={
            <div className="flex flex-wrap gap-2 max-sm:w-full">
              <select
                aria-label="Whose acts"
                className={`${FILTER} max-sm:flex-1`}
                onChange={(event) => setUserId(event.currentTarget.value)}
                value={userId}
              >
                <option value="">Everybody</option>
                {everybody.map(({ userId, name }) => (
                  <option key={userId} value={userId}>
                    {name}
                  </option>
                ))}
              </select>
              <form
                onSubmit={(event) => {
                  event.preventDefault();
                  setAction(String(new FormData(event.currentTarget).get("action") ?? "").trim());
                }}
                className="max-sm:w-full"
              >
                <input
                  aria-label="Act, such as member.removed"
                  className={`${FILTER} w-full font-mono text-xs sm:w-60`}
                  name="action"
                  placeholder="Act, such as member.removed"
                  type="search"
                />
              </form>
            </div>
          }
          title="Acts"
        >
          <LoadedPages query={query} rowsOf={({ entries }) => entries}>
            {(entries) =>
              entries.length === 0 ? (
                <EmptyState icon="list" title="Nothing fits" />
              ) : (
                <Table columns={columns(names)} keyOf={({ seq }) => String(seq)} label="Acts" rows={entries} />
              )
            }
          </LoadedPages>
        </Section>
      </div>
    </>
  );
}

const FILTER = "border-edge/60 bg-surface min-h-8 min-w-0 rounded-md border px-2 max-sm:min-h-10";

function ChainCheck() {
  const check = useMutation({ mutationFn: () => take(api.GET("/api/audit/check")) });
  const { data, error } = check;
  return (
    <Section
      action={
        <Button isBusy={check.isPending} onClick={() => check.mutate()}>
          Check the chain
        </Button>
      }
      description="Proves that no row was changed or taken out since it was written."
      title="Chain"
    >
      <div aria-live="polite">
        {error !== null && <ProblemNotice problem={toProblem(error)} />}
        {data?.isIntact === true && (
          <Notice tone="ok">
            Unbroken, {data.entries} rows.
            {data.lastHash !== null && (
              <>
                {" "}
                Last hash, to be kept elsewhere: <code className="font-mono text-xs break-all">{data.lastHash}</code>
              </>
            )}
          </Notice>
        )}
        {data?.isIntact === false && (
          <Notice tone="danger">Row {data.brokenAt} does not follow from the one before it.</Notice>
        )}
      </div>
    </Section>
  );
}

function columns(names: ReadonlyMap<string, string>): Column<AuditEntry>[] {
  return [
    {
      title: "Act",
      isHeadless: true,
      cell: ({ action, outcome }) => (
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-mono text-[0.8125rem] font-medium wrap-anywhere">{action}</span>
          {outcome === "refused" && <Badge tone="warn">Refused</Badge>}
        </span>
      ),
    },
    {
      title: "Who",
      cell: ({ actorUserId, credential }) => (
        <>
          <span className="block wrap-anywhere">
            {actorUserId === null ? "The system" : (names.get(actorUserId) ?? actorUserId)}
          </span>
          {credential !== "system" && (
            <span className="text-muted text-xs wrap-anywhere">{describeCredential(credential)}</span>
          )}
        </>
      ),
    },
    {
      title: "On what",
      cell: ({ targetType, targetId, details }) => (
        <>
          <span className="block wrap-anywhere">
            {targetType} {names.get(targetId) ?? ""}
          </span>
          {!names.has(targetId) && (
            <span className="text-muted font-mono text-xs wrap-anywhere md:whitespace-nowrap">{targetId}</span>
          )}
          {Object.keys(details).length > 0 && (
            <details className="text-xs">
              <summary className="text-muted">Details</summary>
              <dl className="font-mono wrap-anywhere">
                {Object.entries(details).map(([key, value]) => (
                  <div key={key}>
                    {key}: {typeof value === "string" ? value : JSON.stringify(value)}
                  </div>
                ))}
              </dl>
            </details>
          )}
        </>
      ),
    },
    {
      title: "From",
      cell: ({ ip }) => (
        <span className={`font-mono text-xs ${isShort(ip) ? "whitespace-nowrap" : "break-all"}`}>
          {ip ?? "the server"}
        </span>
      ),
    },
    { title: "When", cell: ({ at }) => <Time at={at} /> },
  ];
}

/** An IPv4 address stays on one line; an IPv6 address may need two. */
function isShort(ip: string | null): boolean {
  return ip === null || ip.length <= 15;
}
