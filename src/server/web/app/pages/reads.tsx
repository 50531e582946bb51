import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditRead } from "#api/audit.ts";
import { describeBrowser } from "#server/web/app/browser-words.ts";
import { describeCredential } from "#server/web/app/credential-words.ts";
import { readsQuery, tokensQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** What the person's tokens and connected clients were shown. */
export function Page() {
  const [credential, setCredential] = useState("");
  const query = useInfiniteQuery(readsQuery(credential === "" ? {} : { credential }));
  const tokens = useQuery(tokensQuery).data?.tokens ?? [];
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  return (
    <>
      <PageHeading title="What was read">
        What your tokens and connected clients were shown, newest first. Only ids are kept, no questions and no titles.
      </PageHeading>
      <Section
        action={
          <select
            aria-label="By which token"
            className="border-edge/60 bg-surface min-h-8 max-w-full min-w-0 rounded-md border px-2 max-sm:min-h-10 max-sm:w-full"
            onChange={(event) => setCredential(event.currentTarget.value)}
            value={credential}
          >
            <option value="">By all</option>
            {[...names].map(([id, name]) => (
              <option key={id} value={`pat:${id}`}>
                {name}
              </option>
            ))}
          </select>
        }
        title="Reads"
      >
        <LoadedPages query={query} rowsOf={({ reads }) => reads}>
          {(reads) =>
            reads.length === 0 ? (
              <EmptyState icon="eye" title="Nothing was read yet">
                When an agent searches or reads with a token of yours, it stands here.
              </EmptyState>
            ) : (
              <Table
                columns={columns(names)}
                keyOf={({ at, credential, tool, kbIds }) => [at, credential, tool, ...kbIds].join(" ")}
                label="Reads"
                rows={reads}
              />
            )
          }
        </LoadedPages>
      </Section>
    </>
  );
}

function columns(names: ReadonlyMap<string, string>): Column<AuditRead>[] {
  return [
    {
      title: "Tool",
      isHeadless: true,
      cell: ({ tool }) => <span className="font-mono text-[0.8125rem] font-medium wrap-anywhere">{tool}</span>,
    },
    {
      title: "By",
      cell: ({ credential, client }) => (
        <>
          <span className="block wrap-anywhere">{describeCredential(credential, names)}</span>
          {client !== null && (
            <span className="text-muted text-xs wrap-anywhere">
              {client.startsWith("Mozilla/") ? describeBrowser(client) : `“${client}”`}
            </span>
          )}
        </>
      ),
    },
    { title: "Items", cell: ({ kbIds }) => <Items kbIds={kbIds} /> },
    { title: "When", cell: ({ at }) => <Time at={at} /> },
  ];
}

function Items({ kbIds }: { kbIds: readonly string[] }) {
  if (kbIds.length === 0) return <span className="text-muted">none</span>;
  return (
    <details>
      <summary className="whitespace-nowrap">{kbIds.length === 1 ? "1 item" : `${kbIds.length} items`}</summary>
      <ul className="mt-1 space-y-0.5 font-mono text-xs">
        {kbIds.map((kbId) => (
          <li key={kbId}>
            <Link to={`/i/${kbId}`}>{kbId}</Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
