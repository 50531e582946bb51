import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useId, useState, type KeyboardEventHandler, type ReactNode } from "react";
import { placeOf } from "#api/clean.ts";
import type { SearchResult } from "#api/search.ts";
import { sourcesQuery } from "#server/web/app/data/connectors.ts";
import { isMarkdown, sourceWords, withoutMarks } from "#server/web/app/data/search-words.ts";
import { Badge, Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

const Preview = lazy(async () => ({ default: (await import("./preview.tsx")).Preview }));

/** One result. Its title links to the item's page, the passage shows why it was found, and its text opens below it. */
export function Result({ result, onKey }: { result: SearchResult; onKey: KeyboardEventHandler }) {
  const { kbId, title, snippet, section } = result;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <li className="px-4 py-3 sm:px-5">
      <div className="flex items-start gap-3">
        <h2 className="min-w-0 flex-1 text-[0.9375rem] wrap-anywhere">
          <Link className="text-accent hover:underline" onKeyDown={onKey} to={`/i/${kbId}`}>
            <bdi>{title}</bdi>
          </Link>
        </h2>
        <Button
          aria-controls={id}
          aria-expanded={isOpen}
          aria-label={`Preview ${title}`}
          className="-my-1 -mr-2"
          kind="quiet"
          onClick={() => setOpen(!isOpen)}
        >
          Preview
        </Button>
      </div>
      <Facts result={result} />
      {snippet !== "" && (
        <p className="mt-1.5 line-clamp-3 wrap-anywhere">
          {section && section !== title && <span className="text-muted">{section}: </span>}
          <bdi>{marked(result, headingLength(snippet, title))}</bdi>
        </p>
      )}
      <div hidden={!isOpen} id={id}>
        {isOpen && (
          <Suspense fallback={<Skeleton />}>
            <Preview kbId={kbId} title={title} />
          </Suspense>
        )}
      </div>
    </li>
  );
}

/** The result's origin, state, people and last change. */
function Facts({ result }: { result: SearchResult }) {
  const { kind, key, source, status, assignees, author, updatedAt, indexedAt, textAsOf } = result;
  const place = placeOf(result, 3);
  const from = sourceWords(source, useQuery(sourcesQuery).data?.sources);
  const who = kind === "task" && assignees.length > 0 ? assignees.map(({ name }) => name).join(", ") : author?.name;
  const facts: ReactNode[] = [
    <bdi key="source">{place === "" ? from : `${from} / ${place}`}</bdi>,
    kind === "task" && key !== null && (
      <span className="font-mono" key="key">
        {key}
      </span>
    ),
    who !== undefined && <bdi key="who">{who}</bdi>,
    updatedAt === null ? (
      <span key="time">
        indexed <Time at={indexedAt} />
      </span>
    ) : (
      <Time at={updatedAt} key="time" />
    ),
    textAsOf !== null && (
      <span key="text">
        text as of <Time at={textAsOf} />, couldn't be read since
      </span>
    ),
  ];
  return (
    <p className="text-muted mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs wrap-anywhere">
      {status && (
        <Badge tone={status === "done" ? "ok" : "accent"}>
          <span className="capitalize">{status}</span>
        </Badge>
      )}
      {facts
        .filter((fact) => fact !== false)
        .map((fact, at, all) => (
          // oxlint-disable-next-line react/no-array-index-key -- the facts of one result never change places
          <span className="flex min-w-0 items-center gap-2" key={at}>
            {fact}
            {at < all.length - 1 && <span aria-hidden="true">·</span>}
          </span>
        ))}
    </p>
  );
}

/**
 * Returns the length of the part of a passage that repeats the title, which is the first heading of a Markdown file.
 */
function headingLength(snippet: string, title: string): number {
  const marks = /^#{1,6} +/.exec(snippet)?.[0];
  if (marks === undefined || !snippet.startsWith(title, marks.length)) return 0;
  const end = marks.length + title.length;
  return /^\s+\S/.test(snippet.slice(end)) ? snippet.length - snippet.slice(end).trimStart().length : 0;
}

/** Returns the passage from that position on, with the matched words highlighted. */
function marked(result: SearchResult, from: number): ReactNode[] {
  const { snippet, highlights } = result;
  const show = isMarkdown(result) ? withoutMarks : (text: string) => text;
  const parts: ReactNode[] = [];
  let at = from;
  for (const { start, end } of highlights) {
    if (start < at) continue;
    parts.push(
      show(snippet.slice(at, start)),
      <mark className="bg-accent-soft text-accent-strong rounded-xs font-medium" key={start}>
        {snippet.slice(start, end)}
      </mark>,
    );
    at = end;
  }
  return [...parts, show(snippet.slice(at))];
}
