import { timeOf } from "#sources/times.ts";
import { createHash } from "node:crypto";
import { setImmediate as breath } from "node:timers/promises";
import { Parser } from "htmlparser2";
import { defined } from "#core/defined.ts";
import { htmlEncodingOf } from "#core/encodings/declared.ts";
import { decodeText } from "#core/encodings/decode.ts";
import { readableName } from "#core/encodings/names.ts";
import { makeRobotsRules, type RobotsRules } from "./robots-rules.ts";

/** The statements of a page about itself, and its links. */
export interface PageFacts {
  title?: string;
  /** The canonical link as written in the page, with the base URL that it is relative to. */
  canonical?: string;
  links: readonly string[];
  /** The target of an immediate redirect. */
  refresh?: string;
  base?: string;
  rules: RobotsRules;
  modifiedAt?: number;
  /** True = the page is a sign-in form with hardly any other content. */
  isSignIn: boolean;
  /** True = the page has hardly any text, and scripts that would generate the text. */
  needsScript: boolean;
  /** Hash of the visible text and the metadata. It includes no token that changes with every response. */
  hash: string;
}

const MAX_LINKS = 5_000;
/**
 * The most levels of nesting. Real pages have less than 300, and the parser's cost grows with the square of the depth.
 */
const MAX_DEPTH = 2_000;
const CHUNK_CHARS = 65_536;
/** The parser searches all open elements for each end tag. This many comparisons take some two seconds. */
const MAX_LOOKUPS = 200_000_000;
const MAX_TITLE_CHARS = 300;
const MAX_META_CHARS = 4_096;
/** The most characters of text on a sign-in page. A sign-in form has hardly more text around it. */
const SIGN_IN_CHARS = 1_500;
const SCRIPT_CHARS = 100;
/** The longest delay of a redirect. A page that redirects later is meant to be read. */
const MAX_REFRESH_SECONDS = 5;

/**
 * Decodes bytes in the same way as extraction decodes a file's text. The server's charset takes precedence over the
 * page's own.
 */
export function decodePage(bytes: Uint8Array, contentType: string | null): string {
  const declared = /;\s*charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? "")?.[1];
  const named = readableName(declared) ?? htmlEncodingOf(bytes) ?? declared;
  return decodeText(bytes, Math.max(1, bytes.length), named)?.text ?? Buffer.from(bytes).toString("latin1");
}

type Facts = Record<"canonical" | "refresh" | "base", string | undefined> & { modifiedAt: number | undefined };

/** Parses a page. Nothing in the page is run or fetched. Yields to the event loop every few thousand elements. */
export async function readPage(html: string, agent: string, robotsTag: string | null): Promise<PageFacts> {
  const rules = makeRobotsRules(agent);
  rules.addHeader(robotsTag);
  const hash = createHash("sha256");
  const facts: Facts = { canonical: undefined, refresh: undefined, base: undefined, modifiedAt: undefined };
  const links = new Set<string>();
  const texts = { title: "", heading: "", shared: "" };
  const open: string[] = [];
  let hidden = 0;
  /** The number of open `noscript` elements, which contain content only for browsers without scripts. */
  let noscripts = 0;
  let headings = 0;
  let chars = 0;
  let scripts = 0;
  let hasPassword = false;
  const depth = { most: 0 };

  function meta({ name, property, content = "", ...rest }: Record<string, string>): void {
    const key = (name ?? property ?? "").toLowerCase();
    if (rest["http-equiv"]?.toLowerCase() === "refresh" && noscripts === 0)
      facts.refresh ??= refreshOf(content.slice(0, MAX_META_CHARS));
    if (key === "robots" || key === agent.toLowerCase()) rules.add(content);
    if (key === "og:title") texts.shared ||= content.slice(0, 1_000);
    if (key === "article:modified_time" || key === "last-modified") facts.modifiedAt ??= timeOf(content);
    if (key === "description" || key === "author" || key === "keywords") hash.update(`\0${key}=${content}`);
  }

  function link({ rel = "", href }: Record<string, string>): void {
    const kinds = rel.toLowerCase().split(/\s+/);
    if (href === undefined) return;
    if (kinds.includes("canonical")) facts.canonical ??= href;
    else if (kinds.includes("next") || kinds.includes("prev")) addLink(href);
  }

  function addLink(href: string): void {
    if (links.size < MAX_LINKS && href.length <= 4_096) links.add(href.trim());
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        open.push(name);
        depth.most = Math.max(depth.most, open.length);
        if (NO_TEXT.has(name)) hidden++;
        if (name === "noscript") noscripts++;
        if (name === "h1") headings++;
        const { href, src, rel = "", type = "" } = attributes;
        if (name === "script") scripts++;
        else if (name === "base" && href !== undefined) facts.base ??= href;
        else if (name === "meta") meta(attributes);
        else if (name === "link") link(attributes);
        else if (name === "a" || name === "area") {
          if (href === undefined) return;
          hash.update(`\0${href.replace(/[?#].*$/s, "")}`);
          if (!/\bnofollow\b/i.test(rel)) addLink(href);
        } else if (name === "frame" && src !== undefined) addLink(src);
        else if (name === "input" && type.toLowerCase() === "password") hasPassword = true;
        else if (name === "html") hash.update(`\0${attributes["lang"] ?? ""}`);
      },
      onclosetag(name) {
        open.pop();
        if (NO_TEXT.has(name)) hidden--;
        if (name === "noscript") noscripts--;
        if (name === "h1") headings--;
      },
      ontext(data) {
        const within = open.at(-1);
        if (within === "title" && open.at(-2) !== "svg" && texts.title.length < 1_000)
          texts.title += data.slice(0, 1_000);
        if (hidden > 0) return;
        if (texts.heading.length < 1_000 && headings > 0) texts.heading += data.slice(0, 1_000);
        const words = data.replace(/\s+/g, " ");
        if (words === "" || words === " ") return;
        if (within !== "title") chars += words.length;
        hash.update(words);
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  let lookups = 0;
  const isTooMuch = () => depth.most > MAX_DEPTH || lookups > MAX_LOOKUPS;
  for (let at = 0; at < html.length && !isTooMuch(); at += CHUNK_CHARS) {
    const piece = html.slice(at, at + CHUNK_CHARS);
    parser.write(piece);
    lookups += piece.split("</").length * depth.most;
    if (at > 0) await breath();
  }
  if (!isTooMuch()) parser.end();
  const title = titleOf(texts);
  hash.update(`\0${texts.title}`);
  return {
    ...defined({ ...facts, title }),
    links: [...links],
    rules: rules.result(),
    isSignIn: hasPassword && chars < SIGN_IN_CHARS,
    needsScript: scripts > 0 && chars < SCRIPT_CHARS,
    hash: hash.digest("base64url").slice(0, 16),
  };
}

/** Returns the heading if the title consists of the heading and the site's name; otherwise the title. */
function titleOf(texts: { title: string; heading: string; shared: string }): string | undefined {
  const [title, heading, shared] = [texts.title, texts.heading, texts.shared].map((text) =>
    text.replace(/\s+/g, " ").replace(PERMALINK_MARKS, "").trim(),
  );
  for (const short of [heading, shared]) {
    if (short && title && title.length > short.length && isPartOf(short, title)) return cut(short);
  }
  return [title, shared, heading].flatMap((text) => (text ? [cut(text)] : []))[0];
}

/**
 * Whether the text is at the beginning or the end of the title, next to a separator of title parts: `Install · Widget
 * docs`.
 */
function isPartOf(short: string, title: string): boolean {
  if (title.startsWith(short)) return /^(?:\s*[|·•—–»«:-]\s|\s+[|·•—–»«-])/u.test(title.slice(short.length));
  return title.endsWith(short) && /(?:\s[|·•—–»«:-]\s*|:\s+)$/u.test(title.slice(0, -short.length));
}

function cut(text: string): string {
  return text.length <= MAX_TITLE_CHARS
    ? text
    : `${text.slice(0, MAX_TITLE_CHARS - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

/** The marks that documentation generators add to headings as links to themselves. */
const PERMALINK_MARKS = /[\s§¶#🔗]+$/gu;

function refreshOf(content: string): string | undefined {
  const [, seconds, target] = /^\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']{1,4096})/i.exec(content) ?? [];
  return Number(seconds ?? Number.NaN) <= MAX_REFRESH_SECONDS ? target?.trim() : undefined;
}

/** Elements that contain scripts or fallback content. */
const NO_TEXT: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "iframe", "title"]);
