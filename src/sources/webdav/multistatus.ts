import { defined } from "#core/defined.ts";
import { Parser } from "htmlparser2";
import { ApiError } from "#api/errors.ts";

/** A server's response about one file or folder: its address as written, and its properties. */
export interface DavResponse {
  href: string;
  /** The status of the file or folder as a whole, if it has no properties. */
  status?: number;
  isFolder: boolean;
  /** True = the server failed to report whether it is a folder. */
  isUnsure?: true;
  /** The properties by `namespace name`, with unchanged texts cut at `MAX_TEXT`. */
  properties: ReadonlyMap<string, string>;
}

const DAV = "DAV:";
/** The most characters of a property, which is far more than any requested property has. */
const MAX_TEXT = 8_192;
const MAX_DEPTH = 64;
/** The most files and folders in one folder. */
export const MAX_RESPONSES = 100_000;

/**
 * Reads a `multistatus` as it arrives. Only the five entities of XML are known and a document type is refused, so
 * nothing in the response can expand or refer to other documents.
 *
 * @throws ApiError `source_unavailable` if the response isn't a multistatus, ends early, or is larger than any folder
 */
export async function readMultistatus(body: AsyncIterable<Uint8Array>, host: string): Promise<DavResponse[]> {
  const reader = makeReader(host);
  const decoder = new TextDecoder();
  for await (const piece of body) reader.write(decoder.decode(piece, { stream: true }));
  reader.write(decoder.decode());
  return reader.end();
}

/** An open element: its name, the names of its ancestors and of itself, and the namespace prefixes that apply in it. */
interface Open {
  name: string;
  path: string;
  prefixes: ReadonlyMap<string, string>;
}

/** A `response` that is being read. */
interface Draft {
  hrefs: string[];
  status?: number;
  isFolder: boolean;
  isUnsure: boolean;
  properties: Map<string, string>;
  /** The properties of the open `propstat`. */
  found: Map<string, string>;
  foundFolder: boolean;
  foundStatus: number | undefined;
}

const RESPONSE = path("multistatus", "response");
const HREF = `${RESPONSE}/${DAV} href`;
const STATUS = `${RESPONSE}/${DAV} status`;
const PROPSTAT = `${RESPONSE}/${DAV} propstat`;
const PROPSTAT_STATUS = `${PROPSTAT}/${DAV} status`;
const PROP = `${PROPSTAT}/${DAV} prop`;
const COLLECTION = `${PROP}/${DAV} resourcetype/${DAV} collection`;

function path(...names: string[]): string {
  return names.map((name) => `${DAV} ${name}`).join("/");
}

function makeReader(host: string) {
  const responses: DavResponse[] = [];
  const open: Open[] = [];
  let draft = newDraft();
  let text = "";
  let isWhole = false;
  let isEnding = false;

  function close(): void {
    const at = open.at(-1)?.path ?? "";
    const value = text.trim();
    text = "";
    if (at === HREF) draft.hrefs.push(value);
    else if (at === STATUS) draft.status = statusOf(value);
    else if (at === PROPSTAT_STATUS) draft.foundStatus = statusOf(value);
    else if (at === COLLECTION) draft.foundFolder = true;
    else if (at === PROPSTAT) takeFound(draft);
    else if (open.length === 5 && at.startsWith(`${PROP}/`)) draft.found.set(open.at(-1)?.name ?? "", value);
    else if (at === RESPONSE) {
      for (const href of draft.hrefs) responses.push(toResponse(draft, href));
      draft = newDraft();
      if (responses.length > MAX_RESPONSES) throw bad(host, `lists more than ${MAX_RESPONSES} entries in one folder`);
    }
    open.pop();
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        text = "";
        const above = open.at(-1);
        const prefixes = prefixesOf(attributes, above?.prefixes ?? new Map());
        const full = fullName(name, prefixes);
        open.push({ name: full, path: above === undefined ? full : `${above.path}/${full}`, prefixes });
        if (open[0]?.name !== `${DAV} multistatus`) throw bad(host, NO_DAV);
        if (open.length > MAX_DEPTH) throw bad(host, "sends XML that is nested too deeply");
      },
      ontext(more) {
        if (text.length < MAX_TEXT) text += more.slice(0, MAX_TEXT - text.length);
      },
      onclosetag() {
        // This element was never closed: only the end of the text closes it.
        if (isEnding) return;
        isWhole ||= open.length === 1 && open[0]?.name === `${DAV} multistatus`;
        close();
      },
      onprocessinginstruction(name) {
        if (name.toLowerCase().startsWith("!"))
          throw bad(host, "sends XML with a document type, which kb doesn't read");
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  return {
    write: (piece: string) => parser.write(piece),
    end(): DavResponse[] {
      isEnding = true;
      parser.end();
      if (!isWhole) throw bad(host, responses.length > 0 || open.length > 0 ? "ended its response early" : NO_DAV);
      return responses;
    },
  };
}

const NO_DAV = "doesn't answer as a WebDAV server";

function bad(host: string, what: string): ApiError {
  // The server answered, so the failure concerns only this folder.
  const details = what === NO_DAV ? undefined : { status: 207 };
  return new ApiError("source_unavailable", { message: `${host} ${what}.`, ...(details && { details }) });
}

function newDraft(): Draft {
  return {
    hrefs: [],
    isFolder: false,
    isUnsure: false,
    properties: new Map(),
    found: new Map(),
    foundFolder: false,
    foundStatus: undefined,
  };
}

/** Counts only properties that the server reports as present. */
function takeFound(draft: Draft): void {
  const { foundStatus = 200 } = draft;
  // A file may have no such property (404).
  draft.isUnsure ||= foundStatus >= 400 && foundStatus !== 404 && draft.found.has(`${DAV} resourcetype`);
  if (foundStatus === 200) {
    for (const [name, value] of draft.found) draft.properties.set(name, value);
    draft.isFolder ||= draft.foundFolder;
  }
  draft.found = new Map();
  draft.foundFolder = false;
  draft.foundStatus = undefined;
}

function toResponse({ status, isFolder, isUnsure, properties }: Draft, href: string): DavResponse {
  return { href, isFolder, properties, ...(isUnsure && { isUnsure }), ...defined({ status }) };
}

function statusOf(line: string): number {
  return Number(/^HTTP\/[\d.]+ (\d{3})/.exec(line)?.[1] ?? 500);
}

function prefixesOf(
  attributes: Readonly<Record<string, string>>,
  outer: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const named = Object.entries(attributes).filter(([name]) => name === "xmlns" || name.startsWith("xmlns:"));
  if (named.length === 0) return outer;
  return new Map([...outer, ...named.map(([name, uri]) => [name.slice("xmlns:".length), uri] as const)]);
}

function fullName(name: string, prefixes: ReadonlyMap<string, string>): string {
  const colon = name.indexOf(":");
  const namespace = prefixes.get(colon === -1 ? "" : name.slice(0, colon)) ?? "";
  return `${namespace} ${name.slice(colon + 1)}`;
}
