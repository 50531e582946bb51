import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditRead } from "#api/audit.ts";
import { plural } from "#api/plural.ts";
import { describeClient } from "#server/web/app/data/browser-words.ts";
import { describeCredential } from "#server/web/app/data/credential-words.ts";
import { readsQuery, tokensQuery } from "#server/web/app/data/queries.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { EmptyState } from "#server/web/app/ui/bits.tsx";
import { Options, Picker, PLAIN } from "#server/web/app/ui/picker.tsx";
import { type Column, headColumn, timeColumn } from "#server/web/app/ui/table.tsx";

/** Items shown to the person's tokens and connected clients. */
export function Page() {
  const [credential, setCredential] = useState("");
  const query = useInfiniteQuery(readsQuery(credential === "" ? {} : { credential }));
  const tokens = useQuery(tokensQuery).data?.tokens ?? [];
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  return (
    <PageFrame
      lead="Items that your sessions, tokens and clients received. Each day lists an item where it was first received, and counts the items that were received again. kb records item IDs, but no queries or titles."
      title="Agent activity"
    >
      <TableSection
        action={
          <Picker
            className={`${PLAIN} max-w-full min-w-0 max-sm:w-full`}
            label="Token or client"
            onChoose={setCredential}
            value={credential}
          >
            <option value="">All sessions, tokens and clients</option>
            <Options choices={tokens.map(({ id, name }) => [`pat:${id}`, name])} />
          </Picker>
        }
        columns={columns(names)}
        empty={
          <EmptyState icon="eye" title="No activity yet">
            When an agent searches or reads with your access, the call appears here.
          </EmptyState>
        }
        keyOf={({ at, credential, tool, answers, repeats, kbIds }) =>
          [at, credential, tool, answers, repeats, ...kbIds].join(" ")
        }
        label="Activity"
        query={query}
        title="Activity"
      />
    </PageFrame>
  );
}

function columns(names: ReadonlyMap<string, string>): Column<AuditRead>[] {
  return [
    headColumn("Action", ({ tool }) => <ToolName tool={tool} />),
    {
      title: "By",
      cell: ({ credential, client }) => (
        <>
          <span className="block wrap-anywhere">{describeCredential(credential, names)}</span>
          {client && <span className="text-muted text-xs wrap-anywhere">{describeClient(client)}</span>}
        </>
      ),
    },
    { title: "Items", cell: (read) => <Items read={read} /> },
    timeColumn("When", "at"),
  ];
}

function againWords({ answers, repeats }: Pick<AuditRead, "answers" | "repeats">): string {
  return [
    ...(answers > 1 ? [plural(answers, "answer")] : []),
    ...(repeats > 0 ? [`${plural(repeats, "item")} again`] : []),
  ].join(", ");
}

/** The name of a tool, or words for reads over REST. */
function ToolName({ tool }: { tool: string }) {
  const words = ROUTES[tool];
  if (words !== undefined) return <span className="font-medium">{words}</span>;
  return <span className="font-mono text-[0.8125rem] font-medium wrap-break-word">{tool}</span>;
}

const ROUTES: Readonly<Record<string, string>> = {
  "GET /api/connectors/search": "Searched",
  "GET /api/connectors/files/{fileId}": "Opened an item",
  "GET /api/connectors/files/{fileId}/content": "Read an item's text",
  "GET /api/connectors/all-files": "Listed items",
  "GET /api/connectors/{id}/files": "Listed a connector's items",
  "GET /api/entities/{id}": "Looked up an entity",
};

/** Items that were read for the first time that day. Repeated reads are a number. */
function Items({ read: { kbIds, answers, repeats } }: { read: AuditRead }) {
  const again = <span className="text-muted text-xs">{againWords({ answers, repeats })}</span>;
  if (kbIds.length === 0) return again;
  return (
    <details>
      <summary className="whitespace-nowrap">{plural(kbIds.length, "item")}</summary>
      {again}
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
