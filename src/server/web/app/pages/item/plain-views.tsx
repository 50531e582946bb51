/** Views of a text that don't need the parser's chunk: raw, code, paragraphs with tables, and mail. */
import { memo } from "react";
import { blocksOf, type TableBlock } from "./blocks.ts";
import { quotationsOf } from "./mail.ts";
import { dropDirection, lineSegmentsOf, segmentsOf, showDirection } from "./segments.ts";

/** The text in its stored form. */
export function Raw({ text }: { text: string }) {
  return <Prose className="font-mono text-[0.8125rem]" text={text} />;
}

function Prose({ text, className = "" }: { text: string; className?: string }) {
  return (
    <div className={`leading-relaxed whitespace-pre-wrap wrap-anywhere ${className}`}>
      {segmentsOf(text).map((segment, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
        <Piece key={at} text={segment} />
      ))}
    </div>
  );
}

const Piece = memo(function Piece({ text }: { text: string }) {
  return <div className="drawn-when-seen">{text}</div>;
});

/** Code in a monospaced font with line numbers. Characters that change the text's direction are escaped. */
export function Code({ text }: { text: string }) {
  return (
    <div
      className="overflow-x-auto font-mono text-[0.8125rem] leading-[1.45rem]"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls
      tabIndex={0}
    >
      <div className="w-max min-w-full">
        {lineSegmentsOf(text).map(({ first, lines }) => (
          <Lines code={lines.join("\n")} count={lines.length} first={first} key={first} />
        ))}
      </div>
    </div>
  );
}

const Lines = memo(function Lines({ first, count, code }: { first: number; count: number; code: string }) {
  const numbers = Array.from({ length: count }, (_, at) => first + at).join("\n");
  return (
    <div className="drawn-when-seen flex">
      <pre
        aria-hidden="true"
        className="bg-surface text-muted border-line sticky left-0 min-w-11 shrink-0 border-r pr-3 text-right select-none"
      >
        {numbers}
      </pre>
      <pre className="pl-4" dir="ltr">
        <code>{showDirection(code)}</code>
      </pre>
    </div>
  );
});

/** Paragraphs and tables, which is the stored form of sheets, PDF and office files. */
export function Document({ text, isWhole }: { text: string; isWhole: boolean }) {
  return (
    <div className="space-y-4">
      {blocksOf(dropDirection(text), isWhole).map((block, at) =>
        block.type === "heading" ? (
          // oxlint-disable-next-line react/no-array-index-key -- a block has no name but its place
          <h3 className="text-[0.9375rem] font-semibold wrap-anywhere" key={at}>
            {block.text}
          </h3>
        ) : block.type === "text" ? (
          // oxlint-disable-next-line react/no-array-index-key -- a block has no name but its place
          <Prose className="max-w-[72ch]" key={at} text={block.text} />
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- a block has no name but its place
          <Sheet key={at} table={block} />
        ),
      )}
    </div>
  );
}

/** The number of rows that are drawn together. */
const ROWS = 50;

/**
 * A table whose column widths come from its header and first rows, so that adding rows shifts nothing. Rows out of
 * sight aren't laid out, which the browser's own table layout doesn't support.
 */
function Sheet({ table: { head, rows, numeric } }: { table: TableBlock }) {
  const pieces = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, at) =>
    rows.slice(at * ROWS, (at + 1) * ROWS),
  );
  const columns = columnsOf(head, rows, numeric).join(";");
  return (
    <div
      className="border-line max-h-[75dvh] overflow-auto rounded-md border"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls
      tabIndex={0}
    >
      <table className="block w-max min-w-full text-[0.8125rem]">
        {head.length > 0 && (
          <thead className="bg-sunken border-line sticky top-0 z-1 block border-b">
            <tr className="flex">
              {columns.split(";").map((column, at) => {
                const Tag = (head[at] ?? "") === "" ? "td" : "th";
                return (
                  <Tag
                    className={`${column} px-3 py-1.5 font-medium`}
                    // oxlint-disable-next-line react/no-array-index-key -- two columns may have the same name
                    key={at}
                    {...(Tag === "th" && { scope: "col" })}
                  >
                    {head[at]}
                  </Tag>
                );
              })}
            </tr>
          </thead>
        )}
        {pieces.map((piece, at) => (
          // The first piece is always laid out: without a header it sets the table's width.
          // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
          <Rows columns={columns} isFirst={at === 0} key={at} rows={piece} />
        ))}
      </table>
    </div>
  );
}

interface RowsProps {
  rows: string[][];
  /** The classes of each column in one string, which can be compared by value. */
  columns: string;
  isFirst: boolean;
}

/** Redrawn only when its last row changed, because rows are only ever appended. */
const Rows = memo(
  function Rows({ rows, columns, isFirst }: RowsProps) {
    const classes = columns.split(";");
    return (
      <tbody className={`border-line block border-b last:border-b-0 ${isFirst ? "" : "drawn-when-seen"}`}>
        {rows.map((row, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a row has no name but its place
          <tr className="border-line flex border-b last:border-b-0" key={at}>
            {classes.map((column, place) => (
              // oxlint-disable-next-line react/no-array-index-key -- a cell has no name but its place
              <td className={`${column} px-3 py-1.5 wrap-break-word`} key={place}>
                {row[place]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    );
  },
  (before, after) =>
    before.columns === after.columns &&
    before.rows.length === after.rows.length &&
    before.rows.at(-1)?.join("|") === after.rows.at(-1)?.join("|"),
);

/** Returns the classes of each column: its alignment and its width, which grows if there is room. */
function columnsOf(head: readonly string[], rows: readonly string[][], numeric: readonly boolean[]): string[] {
  const sample = [head, ...rows.slice(0, ROWS)];
  const count = Math.max(1, ...sample.map((row) => row.length));
  return Array.from({ length: count }, (_, at) => {
    const chars = Math.max(...sample.map((row) => row[at]?.length ?? 0));
    const width = WIDTHS.find(([most]) => chars <= most)?.[1] ?? WIDEST;
    return `${width} grow shrink-0 ${numeric[at] ? "text-right tabular-nums" : "text-left"}`;
  });
}

/** Column widths by the length of the longest cell, in characters. Longer texts wrap. */
const WIDTHS: readonly (readonly [number, string])[] = [
  [4, "w-16"],
  [8, "w-24"],
  [12, "w-32"],
  [17, "w-40"],
  [22, "w-48"],
  [32, "w-64"],
  [44, "w-80"],
];
const WIDEST = "w-96";

/** The body of a mail, with indented quotations. */
export function MailBody({ body }: { body: string }) {
  return (
    <div className="max-w-[72ch] space-y-3">
      {quotationsOf(dropDirection(body)).map(({ depth, text }, at) =>
        depth === 0 ? (
          // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
          <Prose key={at} text={text.replace(/^\n+/, "").trimEnd()} />
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
          <blockquote className={`border-line text-muted border-l-4 pl-3 ${INDENTS[depth - 1] ?? ""}`} key={at}>
            <Prose text={text} />
          </blockquote>
        ),
      )}
    </div>
  );
}

const INDENTS = ["", "ml-3", "ml-6", "ml-9"];
