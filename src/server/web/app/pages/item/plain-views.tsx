/** Views of a text that need no parser of their own chunk: as it is, code, paragraphs with tables, mail. */
import { Fragment, memo } from "react";
import { blocksOf, type TableBlock } from "./blocks.ts";
import { quotationsOf } from "./mail.ts";
import { dropDirection, lineSegmentsOf, segmentsOf, showDirection } from "./segments.ts";

/** The text as it is stored. */
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
  return <Fragment>{text}</Fragment>;
});

/** Code in a fixed width, with the numbers of its lines; what would change its direction is written out. */
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
    <div className="flex">
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

/** Paragraphs and tables, as sheets, PDF and office files are stored. */
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

/** Rows drawn together. */
const ROWS = 100;

function Sheet({ table: { head, rows, numeric } }: { table: TableBlock }) {
  const pieces = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, at) =>
    rows.slice(at * ROWS, (at + 1) * ROWS),
  );
  return (
    <div
      className="border-line max-h-[75dvh] overflow-auto rounded-md border"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls
      tabIndex={0}
    >
      <table className="w-full border-separate border-spacing-0 text-[0.8125rem]">
        {head.length > 0 && (
          <thead>
            <tr>
              {head.map((cell, at) => {
                const Tag = cell === "" ? "td" : "th";
                return (
                  <Tag
                    className={`bg-sunken border-line sticky top-0 border-b px-3 py-1.5 font-medium whitespace-nowrap ${sideOf(numeric[at])}`}
                    // oxlint-disable-next-line react/no-array-index-key -- two columns may have the same name
                    key={at}
                    {...(cell !== "" && { scope: "col" })}
                  >
                    {cell}
                  </Tag>
                );
              })}
            </tr>
          </thead>
        )}
        {pieces.map((piece, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
          <Rows key={at} numeric={numeric.map(Number).join("")} rows={piece} />
        ))}
      </table>
    </div>
  );
}

/** Drawn anew only when its last row changed: rows only ever come after the others. */
const Rows = memo(
  function Rows({ rows, numeric }: { rows: string[][]; numeric: string }) {
    return (
      <tbody>
        {rows.map((row, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- a row has no name but its place
          <tr key={at}>
            {row.map((cell, column) => (
              <td
                className={`border-line max-w-96 min-w-12 border-b px-3 py-1.5 align-top wrap-break-word ${widthOf(cell)} ${sideOf(numeric[column] === "1")}`}
                // oxlint-disable-next-line react/no-array-index-key -- a cell has no name but its place
                key={column}
              >
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    );
  },
  (before, after) =>
    before.numeric === after.numeric &&
    before.rows.length === after.rows.length &&
    before.rows.at(-1)?.join("|") === after.rows.at(-1)?.join("|"),
);

/** Characters of a cell that stay on one line: the table scrolls sideways, its rows stay low. */
const ONE_LINE = 36;

function widthOf(cell: string): string {
  return cell.length <= ONE_LINE ? "whitespace-nowrap" : "min-w-64";
}

function sideOf(isNumeric: boolean | undefined): string {
  return isNumeric === true ? "text-right tabular-nums" : "text-left";
}

/** What a mail says; what it quotes stands back. */
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
