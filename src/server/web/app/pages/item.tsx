import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import type { FileRecord } from "#api/files.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { findRecord, itemTextQuery } from "#server/web/app/data/item.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { NothingHere } from "#server/web/app/shell/nothing-here.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Badge, EmptyState, Section, Skeleton } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { Icon } from "#server/web/app/ui/icon.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/**
 * The permanent address of an item, `/i/<kbId>`: what it is, where it comes from, its text as plain text. Whoever may
 * not read it gets the page of what does not exist.
 */
export function Page() {
  const { kbId = "" } = useParams({ strict: false });
  const text = useInfiniteQuery(itemTextQuery(kbId));
  const code = text.error === null ? undefined : toProblem(text.error).code;
  const isThere = text.data !== undefined || code === "no_text";
  const record = useQuery({ queryKey: ["item", kbId, "record"], queryFn: () => findRecord(kbId), enabled: isThere });

  if (code === "not_found" || code === "invalid_request" || record.data?.title === null) return <NothingHere />;
  if (!isThere && code === undefined) return <Skeleton lines={6} />;
  const file = record.data?.file ?? null;
  return (
    <>
      <PageHeading
        title={record.data?.title ?? (record.isPending ? "…" : kbId)}
        {...(file !== null && { action: <Original file={file} /> })}
      >
        {file === null ? kbId : file.source}
      </PageHeading>
      <div className="space-y-5">
        {file !== null && <Facts file={file} />}
        <Section title="Text">
          {code === "no_text" ? (
            <EmptyState icon="list" title="There is no text of this item">
              It is found by its title, its place and what its source says about it.
            </EmptyState>
          ) : (
            <LoadedPages query={text} rowsOf={(page) => [page.text]}>
              {(parts) => (
                <div className="max-w-prose text-sm leading-relaxed whitespace-pre-wrap wrap-anywhere">
                  {parts.map((part, at) => (
                    // Parts only ever come after the others.
                    // oxlint-disable-next-line react/no-array-index-key -- a part has no name but its place
                    <Fragment key={at}>{part}</Fragment>
                  ))}
                </div>
              )}
            </LoadedPages>
          )}
        </Section>
      </div>
    </>
  );
}

/** Opens the item at its source. Only web addresses: whatever else a source names is shown as text. */
function Original({ file: { kbId, url } }: { file: FileRecord }) {
  // Where the source has no address, the item's is this very page.
  if (url === null || !isWebAddress(url) || url.endsWith(`/i/${kbId}`)) return null;
  return (
    <a className={buttonClass("plain")} href={url} rel="noopener noreferrer" target="_blank">
      Open the original
      <Icon name="external" />
    </a>
  );
}

function Facts({ file }: { file: FileRecord }) {
  const { path, source, status, assignees, dueAt, updatedAt, url } = file;
  return (
    <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
      <Fact label="Kind">
        <span className="capitalize">{file.kind}</span>
      </Fact>
      <Fact label="Place">{path.length === 0 ? source : path.join(" / ")}</Fact>
      {file.author !== null && <Fact label="Author">{file.author.name}</Fact>}
      {status !== null && (
        <Fact label="Status">
          <Badge>{status}</Badge>
        </Fact>
      )}
      {assignees.length > 0 && <Fact label="Assigned to">{assignees.map(({ name }) => name).join(", ")}</Fact>}
      {dueAt !== null && (
        <Fact label="Due">
          <Time at={dueAt} />
        </Fact>
      )}
      {updatedAt !== null && (
        <Fact label="Changed">
          <Time at={updatedAt} />
        </Fact>
      )}
      <Fact label="Indexed">
        <Time at={file.indexedAt} />
      </Fact>
      {url !== null && !isWebAddress(url) && <Fact label="Address">{url}</Fact>}
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      <dt className="text-muted w-24 shrink-0">{label}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
