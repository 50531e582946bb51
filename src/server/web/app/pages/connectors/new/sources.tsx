import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SourceKind } from "#api/connector-records.ts";
import { readersWords } from "#server/web/app/data/connector-words.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";

/** The sources that can be connected, each with its content and who will see that content. */
export function Page() {
  return (
    <PageFrame lead="Choose what to index." title="Add a connector" within="/workspace/connectors">
      <Loaded query={useQuery(sourcesQuery)}>
        {({ sources }) => (
          <ul className="grid gap-3 sm:grid-cols-2">
            {sources.toSorted(byName).map((source) => (
              <li key={source.providerId}>
                <Source source={source} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </PageFrame>
  );
}

function byName(a: SourceKind, b: SourceKind): number {
  return a.name.localeCompare(b.name, "en");
}

function Source({ source }: { source: SourceKind }) {
  const { providerId, name, kinds, available, reason } = source;
  return (
    <div
      className={`border-line relative h-full rounded-lg border px-4 py-3 ${available ? "bg-surface hover:border-accent" : "bg-sunken"}`}
    >
      <h2 className="text-[0.9375rem]">
        {available ? (
          <Link className="after:absolute after:inset-0" to={`/workspace/connectors/new/${providerId}`}>
            {name}
          </Link>
        ) : (
          name
        )}
      </h2>
      <p className="text-muted first-letter:uppercase">{kinds.map((kind) => `${kind}s`).join(", ")}</p>
      <p className="text-muted mt-1 text-xs">{available ? readersWords(source) : reason}</p>
    </div>
  );
}
