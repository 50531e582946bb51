import { Fragment, memo, type ReactNode } from "react";
import { parseMarkdown, type MarkdownNode } from "./markdown-nodes.ts";
import { segmentsOf } from "./segments.ts";

interface MarkdownProps {
  text: string;
  breaks: boolean;
  title?: string;
  origin: string;
}

/**
 * Markdown as React elements. No part of the text is ever passed to the browser as HTML.
 *
 * @param title   the page's heading: a text that begins with the same words doesn't repeat them
 * @param origin  of this server: no text links to it
 */
export function Markdown({ text, breaks, title = "", origin }: MarkdownProps) {
  return (
    <div className="max-w-[72ch] space-y-3 text-[0.9375rem] leading-relaxed wrap-anywhere">
      {segmentsOf(text).map((segment, at) => (
        // Pieces are only ever appended.
        // oxlint-disable-next-line react/no-array-index-key -- a piece has no name but its place
        <Segment breaks={breaks} key={at} origin={origin} text={segment} title={at === 0 ? title : ""} />
      ))}
    </div>
  );
}

const Segment = memo(function Segment({ text, breaks, title, origin }: Required<MarkdownProps>) {
  const nodes = parseMarkdown(text, { breaks, origin });
  const [first, ...others] = nodes;
  const isTitle = first?.level === 1 && oneLine(wordsOf(first)) === oneLine(title);
  return <div className="drawn-when-seen space-y-3">{draw(isTitle ? others : nodes, { depth: 0 })}</div>;
});

function wordsOf({ text = "", children }: MarkdownNode): string {
  return text + children.map(wordsOf).join("");
}

function oneLine(words: string): string {
  return words.replace(/\s+/g, " ").trim();
}

/** The state of drawing headings. The headings of the text are below those of the page, and skip no level. */
interface Drawn {
  depth: number;
}

function draw(nodes: readonly MarkdownNode[], drawn: Drawn): ReactNode {
  return nodes.map((node, at) => (
    // The nodes of a text keep their positions.
    // oxlint-disable-next-line react/no-array-index-key -- a node has no name but its place
    <Fragment key={at}>{node.type === "text" ? checked(node.text ?? "", at) : element(node, drawn)}</Fragment>
  ));
}

function element(node: MarkdownNode, drawn: Drawn): ReactNode {
  if (node.level !== undefined) return heading(node, node.level, drawn);
  const inside = draw(node.children, drawn);
  switch (node.type) {
    case "a":
      return node.href === undefined ? (
        <span className="underline decoration-dotted underline-offset-2">{inside}</span>
      ) : (
        <a
          className="text-accent hover:text-accent-strong underline underline-offset-2"
          href={node.href}
          rel="noopener noreferrer"
          target="_blank"
        >
          {inside}
        </a>
      );
    case "blockquote":
      return <blockquote className="border-line text-muted space-y-3 border-l-4 pl-4">{inside}</blockquote>;
    case "code":
      return <code className="bg-ink/6 rounded px-1 py-0.5 font-mono text-[0.85em]">{inside}</code>;
    case "pre":
      return (
        <pre
          className="bg-sunken border-line overflow-x-auto rounded-md border px-3 py-2.5 font-mono text-[0.8125rem] leading-relaxed"
          // It scrolls, so it must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls
          tabIndex={0}
        >
          <code>{inside}</code>
        </pre>
      );
    case "ul":
      return <ul className="list-disc space-y-1 pl-6">{inside}</ul>;
    case "ol":
      return (
        <ol className="list-decimal space-y-1 pl-6" start={node.start}>
          {inside}
        </ol>
      );
    case "table":
      return (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls
        <div className="overflow-x-auto wrap-normal" tabIndex={0}>
          <table className="border-collapse text-sm">{inside}</table>
        </div>
      );
    case "th":
    case "td":
      return <Cell node={node}>{inside}</Cell>;
    default:
      return plain(node.type, inside);
  }
}

function plain(type: string, inside: ReactNode): ReactNode {
  switch (type) {
    case "p":
      return <p>{inside}</p>;
    case "li":
      return <li className="space-y-1">{inside}</li>;
    case "em":
      return <em>{inside}</em>;
    case "strong":
      return <strong className="font-semibold">{inside}</strong>;
    case "s":
      return <s>{inside}</s>;
    case "br":
      return <br />;
    case "hr":
      return <hr className="border-line my-4" />;
    case "thead":
      return <thead>{inside}</thead>;
    case "tbody":
      return <tbody>{inside}</tbody>;
    case "tr":
      return <tr className="border-line border-b">{inside}</tr>;
    default:
      return inside;
  }
}

function Cell({ node: { type, align, children }, children: inside }: { node: MarkdownNode; children: ReactNode }) {
  const side = align === "right" ? "text-right" : align === "center" ? "text-center" : "text-left";
  // An empty header cell is no label, so it is drawn as a normal cell.
  if (type === "td" || children.length === 0) return <td className={`px-3 py-1.5 align-top ${side}`}>{inside}</td>;
  return (
    <th className={`bg-sunken px-3 py-1.5 font-medium ${side}`} scope="col">
      {inside}
    </th>
  );
}

function heading(node: MarkdownNode, level: number, drawn: Drawn): ReactNode {
  drawn.depth = Math.min(level, drawn.depth + 1);
  const Tag = (["h3", "h4", "h5", "h6"] as const)[Math.min(drawn.depth, 4) - 1] ?? "h3";
  const size =
    ["text-xl border-line border-b pb-1.5 mt-2", "text-lg mt-5", "text-base mt-4"][level - 1] ?? "text-sm mt-4";
  return <Tag className={`${size} font-semibold tracking-tight`}>{draw(node.children, drawn)}</Tag>;
}

/** Converts a checkbox of a task list at the start of a text. */
function checked(text: string, at: number): string {
  if (at > 0) return text;
  return text.replace(/^\[( |x|X)\] /, (_, mark: string) => (mark === " " ? "☐ " : "☑ "));
}
