import type { InfiniteData } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { FileRecord } from "#api/files.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { EmptyState, Section, Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { mailBodyOf } from "./mail.ts";
import { Code, Document, MailBody, Raw } from "./plain-views.tsx";
import { dropDirection } from "./segments.ts";
import type { TextKind } from "./text-kind.ts";

/** Its parser is as large as all else of this page. */
const Markdown = lazy(async () => ({ default: (await import("./markdown.tsx")).Markdown }));

interface Part {
  text: string;
  next: number | null;
}

export interface ItemTextProps {
  kind: TextKind;
  query: {
    data: InfiniteData<Part> | undefined;
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    refetch(): unknown;
    fetchNextPage(): unknown;
  };
  /** Why there is no text. */
  textState: Pick<FileRecord["textState"], "reason" | "message">;
  /** Line feeds end lines, as people write in trackers and messages. */
  showsBreaks: boolean;
}

/** The text of an item by its kind, with a switch to the text as it is stored; or why there is none. */
export function ItemText({ kind, query, textState, showsBreaks }: ItemTextProps) {
  const [isRaw, setRaw] = useState(false);
  const problem = query.error === null ? undefined : toProblem(query.error);
  const { reason, message } = textState;
  if (problem?.code === "no_text" || (query.data?.pages[0]?.text === "" && !query.hasNextPage)) {
    return (
      <Section title="No text">
        <EmptyState icon="list" title={reason === null ? "This item has no text" : REASONS[reason]}>
          {message !== null && <p className="wrap-anywhere">{message}</p>}
          <p>Search finds it by its title, its place and what its source says about it.</p>
        </EmptyState>
      </Section>
    );
  }
  return (
    <Section
      action={
        <div className="-my-1.5 -mr-2">
          <Button aria-pressed={isRaw} kind={isRaw ? "plain" : "quiet"} onClick={() => setRaw(!isRaw)}>
            Raw
          </Button>
        </div>
      }
      title={isRaw ? "Raw text" : TITLES[kind]}
    >
      <LoadedPages query={query} rowsOf={({ text }) => [text]}>
        {(parts) => {
          const text = parts.join("");
          return isRaw ? (
            <Raw text={text} />
          ) : (
            <Suspense fallback={<Skeleton lines={6} />}>
              <Rendered isWhole={!query.hasNextPage} kind={kind} showsBreaks={showsBreaks} text={text} />
            </Suspense>
          );
        }}
      </LoadedPages>
    </Section>
  );
}

interface RenderedProps extends Pick<ItemTextProps, "kind" | "showsBreaks"> {
  text: string;
  isWhole: boolean;
}

function Rendered({ kind, text, isWhole, showsBreaks }: RenderedProps) {
  switch (kind) {
    case "markdown":
      return <Markdown breaks={showsBreaks} text={dropDirection(text)} />;
    case "code":
      return <Code text={text} />;
    case "mail":
      return <MailBody body={mailBodyOf(text)} />;
    case "document":
      return <Document isWhole={isWhole} text={text} />;
  }
}

const TITLES: Readonly<Record<TextKind, string>> = {
  markdown: "Text",
  code: "Code",
  mail: "Message",
  document: "Text",
};

const REASONS: Readonly<Record<NonNullable<FileRecord["textState"]["reason"]>, string>> = {
  unsupported_type: "kb reads no text from this type of file",
  too_large: "This file is too large to be read",
  empty: "There is no text in this item",
  encrypted: "This file is encrypted",
  excluded_by_scope: "The connector's scope leaves this item's text out",
  excluded_by_policy: "This workspace's settings leave this item's text out",
  acl_unknown: "Who may read this item isn't known yet",
  generated: "This file is made by a program, not read by people",
  over_quota: "The workspace has reached its limit of texts",
  failed: "This item's text could not be read",
};
