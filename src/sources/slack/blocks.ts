/**
 * Returns the text of a message's blocks and attachments, in the markup of `text`, so that mentions are resolved in one
 * place.
 */

/** The most levels of nesting. No message that people write has more than a list in a quote in an attachment. */
const MOST_DEPTH = 12;
/**
 * The most blocks and attachments that are read. Slack accepts 50 blocks and 100 attachments, and a message has up to
 * 40,000 characters.
 */
const MOST_PARTS = 200;
const MOST_CHARS = 200_000;

type Json = Readonly<Record<string, unknown>>;

/** Returns the text of each block that has any, in order. Source: https://docs.slack.dev/reference/block-kit/blocks */
export function blocksOf(blocks: unknown): string[] {
  return texts(listOf(blocks).map((block) => linesOf(block, 0).join("\n")));
}

/**
 * Returns the text of each attachment in display order. The fallback, which is for notifications, is used only if the
 * attachment has no other text. Source:
 * https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
 */
export function attachmentsOf(attachments: unknown): string[] {
  return texts(
    listOf(attachments).flatMap((attachment) => {
      if (!isObject(attachment)) return [];
      const { fallback } = attachment;
      const shown = [
        ...SHOWN_BEFORE.map((key) => attachment[key]),
        ...listOf(attachment["fields"]).map(fieldOf),
        attachment["footer"],
      ].filter(isText);
      const words = [...shown, ...blocksOf(attachment["blocks"])].join("\n");
      return words === "" && isText(fallback) ? [fallback] : [words];
    }),
  );
}

const SHOWN_BEFORE = ["pretext", "author_name", "title", "text"];

function fieldOf(field: unknown): string {
  return isObject(field) ? [field["title"], field["value"]].filter(isText).join(": ") : "";
}

/** The text properties of blocks, in display order. Unknown kinds of blocks are read with the same property names. */
const WORDS = [
  "label",
  "title",
  "author_name",
  "text",
  "description",
  "fields",
  "elements",
  "rows",
  "accessory",
  "alt_text",
  "hint",
];

function linesOf(value: unknown, depth: number): string[] {
  if (depth > MOST_DEPTH) return [];
  if (isText(value)) return [value];
  if (Array.isArray(value)) return value.slice(0, MOST_PARTS).flatMap((each) => linesOf(each, depth + 1));
  if (!isObject(value)) return [];
  const { type, text, elements } = value;
  switch (type) {
    case "plain_text":
    case "raw_text":
      return isText(text) ? [escaped(text)] : [];
    case "mrkdwn":
      return isText(text) ? [text] : [];
    case "rich_text_section":
    case "rich_text_quote":
    case "rich_text_preformatted":
      return [listOf(elements).map(inline).join("")].filter(isText);
    case "rich_text_list":
      return linesOf(elements, depth).map((line) => `• ${line}`);
    case "table":
      return listOf(value["rows"]).map((row) =>
        listOf(row)
          .map((cell) => linesOf(cell, depth + 1).join(" "))
          .join(" | "),
      );
    default:
      return WORDS.flatMap((key) => linesOf(value[key], depth + 1));
  }
}

/** Returns the text of an inline element. Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function inline(element: unknown): string {
  if (!isObject(element)) return "";
  const { type, text, url } = element;
  const idOf = (key: string) => (isText(element[key]) ? escaped(element[key]) : "");
  switch (type) {
    case "link":
      return isText(text) && isText(url) ? `<${plain(url)}|${plain(text)}>` : escaped(String(text ?? url ?? ""));
    case "user":
      return `<@${idOf("user_id")}>`;
    case "channel":
      return `<#${idOf("channel_id")}>`;
    case "usergroup":
      return `<!subteam^${idOf("usergroup_id")}>`;
    case "broadcast":
      return `<!${idOf("range")}>`;
    case "emoji":
      return `:${idOf("name")}:`;
    case "date":
      return idOf("fallback");
    case "color":
      return idOf("value");
    default:
      return isText(text) ? escaped(text) : "";
  }
}

/** Escapes a text as in `text`, so that plain text isn't read as markup. */
function escaped(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function plain(text: string): string {
  return escaped(text).replaceAll("|", " ");
}

function texts(parts: readonly string[]): string[] {
  let left = MOST_CHARS;
  return parts.flatMap((part) => {
    const kept = part.trim().slice(0, Math.max(0, left));
    left -= kept.length;
    return kept === "" ? [] : [kept];
  });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_PARTS) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
