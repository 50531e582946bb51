import { notFound } from "#sources/errors.ts";
import { defined } from "#core/defined.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { createHash } from "node:crypto";
import type { McpResource, McpResourceContent, McpResourceTemplate, McpSession } from "#mcp-client/contract.ts";
import { fetchMapped, listMapped, type ToolMapping } from "#mcp-client/mapping.ts";
import { isApiError } from "#api/errors.ts";
import { expandTemplate } from "#core/url-template.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { asking, toFailure } from "./failures.ts";

/** An entry of a server's listing, whose content has not been read yet. */
export interface Entry {
  externalId: string;
  title: string;
  mimeType?: string;
  url?: string;
  /** Epoch milliseconds. */
  updatedAt?: number;
  size?: number;
  /** A value that changes with the content, if the server reports one. Otherwise the content has to be read. */
  stamp?: string;
  read(): Promise<Content>;
}

export type Content = { mimeType?: string } & ({ text: string; bytes?: never } | { bytes: Uint8Array; text?: never });

/** The position in a listing: the kind of list, and the server's cursor in the list. */
export interface Place {
  part: (typeof PARTS)[number];
  cursor?: string;
}

export const PARTS = ["resources", "templates", "tools"] as const;

export interface EntryPage {
  entries: Entry[];
  /** The next position. Undefined after the last list. */
  next?: Place;
  /** Number of templates that the server did not complete in time. Their resources are unknown. */
  uncompleted?: number;
  /** Why the server could not return the rest of this list. */
  failed?: string;
}

const MAX_TEMPLATES = 20;
const MAX_VALUES = 100;
/** The time limit for completing all templates. Until they are completed, a sync has no checkpoint to resume from. */
const COMPLETING_MS = 60_000;

export const resourceId = (uri: string): string => `resource:${uri}`;
export const toolId = (id: string): string => `tool:${id}`;

/** Reads the page at a position, and returns the next position. */
export async function readPage(
  session: McpSession,
  place: Place,
  { mapping, isWanted, now }: Reading,
): Promise<EntryPage> {
  const { cursor, ...read } = isWanted[place.part] ? await readPart(session, place, { mapping, now }) : { entries: [] };
  if (cursor !== undefined) return { ...read, next: { part: place.part, cursor } };
  return { ...read, ...partAfter(place) };
}

/** Returns the beginning of the next list. */
export function partAfter({ part: before }: Place): Pick<EntryPage, "next"> {
  const part = PARTS[PARTS.indexOf(before) + 1];
  return part ? { next: { part } } : {};
}

interface Reading {
  mapping: ToolMapping | undefined;
  isWanted: Readonly<Record<Place["part"], boolean>>;
  now: () => number;
}

/** Reads the content of one entry by its id; undefined for an id that this source didn't create. */
export async function readById(
  session: McpSession,
  externalId: string,
  mapping: ToolMapping | undefined,
): Promise<Content | undefined> {
  const [, type, id = ""] = /^(resource|tool):(.+)$/s.exec(externalId) ?? [];
  if (type === "resource") return readResource(session, id);
  if (type !== "tool" || mapping?.fetch === undefined) return undefined;
  return fetchMapped(session, mapping.fetch, id);
}

async function readPart(
  session: McpSession,
  { part, cursor }: Place,
  { mapping, now }: Pick<Reading, "mapping" | "now">,
): Promise<Omit<EntryPage, "next"> & { cursor?: string }> {
  if (part === "resources") {
    const { items, nextCursor } = await asking(() => session.listResources(cursor));
    return {
      entries: items.map((one) => ofResource(session, one)),
      ...defined({ cursor: nextCursor }),
    };
  }
  if (part === "templates") return readTemplates(session, now);
  return readTools(session, mapping, cursor);
}

async function readTools(
  session: McpSession,
  mapping: ToolMapping | undefined,
  cursor: string | undefined,
): Promise<{ entries: Entry[]; cursor?: string }> {
  if (mapping?.list === undefined) return { entries: [] };
  const { list, fetch } = mapping;
  const { hits, nextCursor } = await asking(() => listMapped(session, list, cursor));
  const entries = hits.map(({ id, title, url, mimeType, updatedAt, text }): Entry => ({
    externalId: toolId(id),
    title,
    ...defined({ url, mimeType, updatedAt }),
    // If the server has a `fetch` tool, the text in a list is only an excerpt.
    ...(fetch === undefined && text !== undefined && { stamp: digest(text) }),
    ...(fetch !== undefined && updatedAt !== undefined && { stamp: String(updatedAt) }),
    read: async () => (fetch === undefined ? { text: text ?? "" } : asking(() => fetchMapped(session, fetch, id))),
  }));
  const hasPages = nextCursor !== undefined && list.argument !== undefined;
  return { entries, ...(hasPages && { cursor: nextCursor }) };
}

/**
 * Lists the resources of templates with exactly one variable, whose values the server completes. Resources of other
 * templates can't be listed.
 */
async function readTemplates(session: McpSession, now: () => number): Promise<Omit<EntryPage, "next">> {
  if (!session.capabilities.completions) return { entries: [] };
  // A server can support completions and have no templates.
  const { items } = await asking(() => session.listResourceTemplates()).catch(noTemplates);
  const entries: Entry[] = [];
  const until = now() + COMPLETING_MS;
  let uncompleted = 0;
  for (const template of items.slice(0, MAX_TEMPLATES)) {
    const name = variableOf(template);
    if (name === undefined) continue;
    const values = await complete(session, template, { name, withinMs: until - now() });
    if (values === undefined) uncompleted++;
    else entries.push(...values.slice(0, MAX_VALUES).map((value) => ofTemplate(session, template, name, value)));
  }
  return { entries, ...(uncompleted > 0 && { uncompleted }) };
}

/**
 * Returns no templates if the server itself has no such method. A 404 doesn't prove that, since it can come from
 * anything at the server's address.
 */
function noTemplates(error: unknown): { items: McpResourceTemplate[] } {
  if (!isApiError(error, "source_not_found") || error.details?.["status"] !== undefined) throw error;
  return { items: [] };
}

/** Returns the variable of a template that has exactly one. */
function variableOf({ uriTemplate }: McpResourceTemplate): string | undefined {
  const names = [...uriTemplate.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name);
  const [name = ""] = names;
  return names.length === 1 && /^[A-Za-z0-9_]+$/.test(name) ? name : undefined;
}

/** Returns the values of a template's variable; undefined if the server doesn't return them in time. */
async function complete(
  session: McpSession,
  { uriTemplate }: McpResourceTemplate,
  { name, withinMs }: { name: string; withinMs: number },
): Promise<string[] | undefined> {
  if (withinMs <= 0) return undefined;
  try {
    return (await session.complete(uriTemplate, { name, value: "" }, { withinMs })).values;
  } catch (error) {
    if (error instanceof McpProblem && error.code === "timeout") return undefined;
    throw error instanceof McpProblem ? toFailure(error) : error;
  }
}

function ofTemplate(session: McpSession, template: McpResourceTemplate, name: string, value: string): Entry {
  const uri = expandTemplate(template.uriTemplate, { [name]: value });
  const { mimeType } = template;
  return ofResource(session, {
    uri,
    name: `${template.title ?? template.name} ${value}`,
    ...(mimeType && { mimeType }),
  });
}

function ofResource(session: McpSession, { uri, name, title, mimeType, size, lastModified }: McpResource): Entry {
  return {
    externalId: resourceId(uri),
    title: title ?? name,
    ...defined({ mimeType }),
    ...(/^https?:\/\//.test(uri) && canParseUrl(uri) && { url: uri }),
    ...defined({ size }),
    ...(lastModified !== undefined && { updatedAt: lastModified, stamp: `${lastModified}-${size ?? ""}` }),
    read: () => readResource(session, uri),
  };
}

/** Reads a resource. Several text parts are joined into one text; of several binary parts, only the first is used. */
async function readResource(session: McpSession, uri: string): Promise<Content> {
  const contents = await asking(() => session.readResource(uri));
  const texts = contents.filter((one): one is McpResourceContent & { type: "text" } => one.type === "text");
  const [first] = contents;
  const mimeType = first?.mimeType;
  if (texts.length > 0) return { text: texts.map(({ text }) => text).join("\n\n"), ...(mimeType && { mimeType }) };
  if (first?.type === "blob") return { bytes: first.bytes, ...(mimeType && { mimeType }) };
  throw notFound("The server has no content for this.");
}

export function digest(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("base64url").slice(0, 22);
}
