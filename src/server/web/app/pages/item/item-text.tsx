import { lazy, memo, Suspense, useDeferredValue, useState } from "react";
import type { FileRecord } from "#api/files.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { LoadedPages, type PagedQuery } from "#server/web/app/shell/loaded.tsx";
import { TEXT_REASON_WORDS } from "./text-reason-words.ts";
import { EmptyState, Section, Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { mailBodyOf } from "./mail.ts";
import { Code, Document, MailBody, Raw } from "./plain-views.tsx";
import { dropDirection } from "./segments.ts";
import { type TextKind, textKindOf } from "./text-kind.ts";

/** The component loads when it is needed, because its parser is as large as the rest of this page. */
const Markdown = lazy(async () => ({ default: (await import("./markdown.tsx")).Markdown }));

/** The text of an item, shown by its kind, with a switch to the stored text; or why there is no text. */
export function ItemText({ file, query }: { file: FileRecord; query: PagedQuery<string> }) {
  const [isRaw, setRaw] = useState(false);
  const kind = textKindOf(file);
  // Why there is no text, or only the previous text.
  const { reason, message, asOf } = file.textState;
  const hasNone = query.error !== null && toProblem(query.error).code === "no_text";
  if (hasNone || (query.data === "" && !query.hasNextPage)) {
    return (
      <Section title="No text">
        <EmptyState icon="list" title={reason === null ? "This item has no text" : TEXT_REASON_WORDS[reason]}>
          {message && <p className="wrap-anywhere">{message}</p>}
          <p>You can still find it by its title, location and details.</p>
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
      {asOf && (
        <Notice className="mb-3" tone="warn">
          This is the text as of <Time at={asOf} />. kb couldn't read the content since
          {message === null ? "." : `: ${message}`}
        </Notice>
      )}
      <LoadedPages query={query}>
        {(text) => (
          <Suspense fallback={<Skeleton lines={6} />}>
            <Rendered
              isRaw={isRaw}
              isWhole={!query.hasNextPage}
              kind={kind}
              // In trackers and messages, people use line breaks within paragraphs.
              showsBreaks={file.kind !== "file"}
              text={text}
              title={file.title}
            />
          </Suspense>
        )}
      </LoadedPages>
    </Section>
  );
}

interface RenderedProps {
  kind: TextKind;
  /** The page's heading. */
  title: string;
  text: string;
  isWhole: boolean;
  isRaw: boolean;
  /** A line feed is shown as a line break. */
  showsBreaks: boolean;
}

/** Draws additions to a long text in the background, piece by piece, so that the page stays responsive. */
function Rendered(props: RenderedProps) {
  return <View {...useDeferredValue(props)} />;
}

const View = memo(function View({ kind, title, text, isWhole, isRaw, showsBreaks }: RenderedProps) {
  if (isRaw) return <Raw text={text} />;
  switch (kind) {
    case "markdown":
      return <Markdown breaks={showsBreaks} origin={window.location.origin} text={dropDirection(text)} title={title} />;
    case "code":
      return <Code text={text} />;
    case "mail":
      return <MailBody body={mailBodyOf(text)} />;
    case "document":
      return <Document isWhole={isWhole} text={text} />;
  }
});

const TITLES: Readonly<Record<TextKind, string>> = {
  markdown: "Text",
  code: "Code",
  mail: "Message",
  document: "Text",
};
