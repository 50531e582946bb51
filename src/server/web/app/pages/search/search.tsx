import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState, type KeyboardEvent } from "react";
import { plural } from "#api/plural.ts";
import type { SearchAnswer } from "#api/search.ts";
import { isOutage } from "#server/web/app/data/problem.ts";
import { type Asked, askedIn, searchQuery } from "#server/web/app/data/search.ts";
import { noteWords } from "#server/web/app/data/search-words.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { EmptyState } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Box } from "./box.tsx";
import { Checklist } from "./checklist.tsx";
import { Filters } from "./filters.tsx";
import { Result } from "./result.tsx";

/**
 * The start page of a signed-in person. It searches what they can read, by words and filters. The address contains the
 * query.
 */
export function Page() {
  const asked = askedIn(useSearch({ strict: false }));
  const navigate = useNavigate();
  const answers = useInfiniteQuery(searchQuery(asked));
  const box = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const first = answers.data?.pages[0];
  // While the server is down, the last results stay. A query that fails for another reason shows the failure.
  const [last, setLast] = useState(answers.data);
  if (answers.data !== undefined && answers.data !== last) setLast(answers.data);
  const data = answers.data ?? (isOutage(answers.error) ? last : undefined);
  const isOfAnother = answers.isPlaceholderData || answers.data === undefined;

  const ask = (change: Asked) => {
    const search = askedIn({ ...asked, ...change });
    void navigate({ to: "/search", search, replace: true });
  };

  return (
    <>
      <PageHeading field={box} title="Search" />
      <div className="space-y-4">
        {asked.query === undefined && <Checklist />}
        <search className="block space-y-2.5">
          <Box
            box={box}
            onAsk={(query) => ask({ query })}
            onDown={() => linksIn(list.current)[0]?.focus()}
            query={asked.query ?? ""}
          />
          {!isEmpty(asked, first) && <Filters asked={asked} facets={first?.facets ?? {}} onChange={ask} />}
        </search>
        <Loaded lines={6} query={{ data, error: answers.error, refetch: answers.refetch }}>
          {({ pages }) => (
            <div aria-busy={isOfAnother} className={isOfAnother ? "opacity-50" : ""}>
              {isOfAnother ? (
                <output className="text-muted mb-2 block text-xs">Searching…</output>
              ) : (
                <Summary answer={pages[0]} isForWords={asked.query !== undefined} />
              )}
              <ol className="divide-line bg-surface border-line divide-y rounded-lg border empty:hidden" ref={list}>
                {pages.flatMap(({ results }) =>
                  results.map((result) => (
                    <Result
                      key={result.kbId}
                      onKey={(event) => walk(event, list.current, box.current)}
                      result={result}
                    />
                  )),
                )}
              </ol>
              {answers.hasNextPage && (
                <div className="pt-3 text-center">
                  <Button isBusy={answers.isFetchingNextPage} onClick={() => void answers.fetchNextPage()}>
                    Show more
                  </Button>
                </div>
              )}
            </div>
          )}
        </Loaded>
      </div>
    </>
  );
}

/** Whether there is nothing to find yet, and therefore nothing to filter. */
function isEmpty(asked: Asked, first: SearchAnswer | undefined): boolean {
  return first?.total === 0 && Object.keys(asked).length === 0;
}

/** The number of results, and the server's notes on the answer. */
function Summary({ answer, isForWords }: { answer: SearchAnswer | undefined; isForWords: boolean }) {
  if (answer === undefined) return null;
  const { total, totalIsExact, order } = answer;
  const notes = answer.notes.flatMap(noteWords);
  const ordered = { relevance: "best match first", recency: "newest first", due: "due first" }[order];
  const found = totalIsExact ? plural(total, "result") : `More than ${plural(total, "result")}`;
  const none = isForWords ? "No results" : "";
  return (
    <>
      <output className={total > 0 ? "text-muted mb-2 block text-xs" : "sr-only"}>
        {total > 0 ? `${found}, ${ordered}` : none}
      </output>
      {total > 0 && notes.length > 0 && <Notes className="text-muted mb-2 space-y-0.5 text-xs" notes={notes} />}
      {total === 0 && (
        <EmptyState
          icon="search"
          title={isForWords ? "Nothing that you can read matches" : "There is nothing here yet"}
        >
          {notes.length > 0 ? (
            <Notes className="space-y-1" notes={notes} />
          ) : isForWords ? (
            "Try fewer or other words, or remove a filter."
          ) : (
            "What your connectors index appears here, the newest first."
          )}
        </EmptyState>
      )}
    </>
  );
}

function Notes({ className, notes }: { className: string; notes: readonly string[] }) {
  return (
    <ul className={className}>
      {notes.map((note) => (
        <li className="wrap-anywhere" key={note}>
          {note}
        </li>
      ))}
    </ul>
  );
}

/**
 * Handles keys: arrow keys move through the results; Up on the first result, and Escape, return to the search field.
 */
function walk(event: KeyboardEvent, list: HTMLElement | null, box: HTMLElement | null): void {
  const links = linksIn(list);
  const at = links.findIndex((link) => link === event.currentTarget);
  const next = { ArrowDown: links[at + 1], ArrowUp: links[at - 1] ?? box, Escape: box }[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function linksIn(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("h2 a") ?? [])];
}
