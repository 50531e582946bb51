import { createHash } from "node:crypto";
import { z } from "zod";
import { cleanLine, cleanText, cut } from "#api/clean.ts";
import { defined } from "#core/defined.ts";
import { isInstant } from "#core/instant.ts";
import type { McpCaps } from "./caps.ts";
import type {
  McpBlock,
  McpCapabilities,
  McpList,
  McpResource,
  McpResourceContent,
  McpResourceTemplate,
  McpServerInfo,
  McpTool,
} from "./contract.ts";

const MAX_NAME_CHARS = 128;
const MAX_URI_CHARS = 2_000;
const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 2_000;
const MAX_TYPE_CHARS = 100;
const MAX_CURSOR_CHARS = 4_000;

/** A member that doesn't follow the protocol is treated as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);
const Annotations = optional(
  z.looseObject({ lastModified: optional(z.string()), readOnlyHint: optional(z.boolean()) }),
);
const Described = {
  name: optional(z.string()),
  title: optional(z.string()),
  description: optional(z.string()),
  mimeType: optional(z.string()),
};
const Resource = z.looseObject({ ...Described, uri: z.string(), size: optional(z.number()), annotations: Annotations });
const Template = z.looseObject({ ...Described, uriTemplate: z.string() });
const Tool = z.looseObject({
  ...Described,
  name: z.string(),
  inputSchema: z.record(z.string(), z.unknown()).catch({}),
  outputSchema: optional(z.unknown()),
  annotations: Annotations,
});
const Content = z.looseObject({
  uri: z.string(),
  mimeType: optional(z.string()),
  text: optional(z.string()),
  blob: optional(z.string()),
});
const Block = z.looseObject({ type: z.string(), text: optional(z.string()), resource: optional(z.unknown()) });

/** Pages are parsed as they arrive, and entries one by one, so that a malformed entry loses only itself. */
const cursor = optional(z.string().min(1).max(MAX_CURSOR_CHARS));
export const ToolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: cursor });
export const ResourcesPage = z.looseObject({ resources: z.array(z.unknown()), nextCursor: cursor });
export const TemplatesPage = z.looseObject({ resourceTemplates: z.array(z.unknown()), nextCursor: cursor });
export const ReadResult = z.looseObject({ contents: z.array(z.unknown()) });
export const CallResult = z.looseObject({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().catch(false),
});
export const CompletionResult = z.looseObject({
  completion: z.looseObject({ values: z.array(z.string()), hasMore: z.boolean().catch(false) }),
});

/** Parses entries. Entries for which the reader returns undefined are left out and counted. */
export function readList<Item>(entries: readonly unknown[], read: (entry: unknown) => Item | undefined): McpList<Item> {
  const items = entries.map(read).filter((item) => item !== undefined);
  return { items, leftOut: entries.length - items.length };
}

/** Parses a tool. Returns undefined if its name can't be distinguished from another one, or if its schemas exceed the caps. */
export function readTool(
  entry: unknown,
  { schemaBytes, schemaDepth }: Pick<McpCaps, "schemaBytes" | "schemaDepth">,
): McpTool | undefined {
  const { data } = Tool.safeParse(entry);
  if (data === undefined || !isPlain(data.name, MAX_NAME_CHARS)) return undefined;
  const { name, inputSchema, outputSchema, annotations } = data;
  if (depthOf(inputSchema) > schemaDepth || depthOf(outputSchema) > schemaDepth) return undefined;
  const pinned = JSON.stringify(canonical([name, data.description, inputSchema, outputSchema, annotations]));
  if (pinned.length > schemaBytes) return undefined;
  return {
    name,
    inputSchema,
    isReadOnly: annotations?.readOnlyHint === true,
    pin: createHash("sha256").update(pinned).digest("base64url"),
    ...described(data),
  };
}

/** Parses a resource. Returns undefined if its URI could be mistaken for another one. */
export function readResource(entry: unknown): McpResource | undefined {
  const { data } = Resource.safeParse(entry);
  if (data === undefined || !isPlain(data.uri, MAX_URI_CHARS)) return undefined;
  const { uri, size, annotations } = data;
  const lastModified = Date.parse(annotations?.lastModified ?? "");
  return {
    uri,
    name: cleanLine(data.name ?? "", MAX_TITLE_CHARS) || cleanLine(uri, MAX_TITLE_CHARS),
    ...described(data),
    ...defined({ mimeType: mimeType(data.mimeType) }),
    ...(size !== undefined && Number.isSafeInteger(size) && size >= 0 && { size }),
    ...(isInstant(lastModified) && lastModified > 0 && { lastModified }),
  };
}

export function readTemplate(entry: unknown): McpResourceTemplate | undefined {
  const { data } = Template.safeParse(entry);
  if (data === undefined || !isPlain(data.uriTemplate, MAX_URI_CHARS)) return undefined;
  return {
    uriTemplate: data.uriTemplate,
    name: cleanLine(data.name ?? "", MAX_TITLE_CHARS) || cleanLine(data.uriTemplate, MAX_TITLE_CHARS),
    ...described(data),
    ...defined({ mimeType: mimeType(data.mimeType) }),
  };
}

export function readContent(entry: unknown): McpResourceContent | undefined {
  const { data } = Content.safeParse(entry);
  if (data === undefined || !isPlain(data.uri, MAX_URI_CHARS)) return undefined;
  const about = { uri: data.uri, ...defined({ mimeType: mimeType(data.mimeType) }) };
  if (data.text !== undefined) return { ...about, type: "text", text: data.text };
  if (data.blob === undefined) return undefined;
  return { ...about, type: "blob", bytes: Buffer.from(data.blob, "base64") };
}

export function readBlock(entry: unknown): McpBlock {
  const { data } = Block.safeParse(entry);
  if (data?.type === "text" && data.text !== undefined) return { type: "text", text: data.text };
  if (data?.type === "resource_link") {
    const resource = readResource(data);
    if (resource) return { type: "link", resource };
  }
  if (data?.type === "resource") {
    const content = readContent(data.resource);
    if (content) return { type: "resource", content };
  }
  return { type: "other" };
}

export function readServerInfo(
  info: { name?: unknown; title?: unknown; version?: unknown } | undefined,
): McpServerInfo {
  const text = (value: unknown, maxChars: number) => cleanLine(typeof value === "string" ? value : "", maxChars);
  const title = text(info?.title, MAX_TITLE_CHARS);
  return {
    name: text(info?.name, MAX_NAME_CHARS),
    version: text(info?.version, MAX_TYPE_CHARS),
    ...(title !== "" && { title }),
  };
}

export function readCapabilities(reported: Readonly<Record<string, unknown>> | undefined): McpCapabilities {
  const member = (value: unknown, name: string): unknown =>
    typeof value === "object" && value !== null && name in value ? (value as Record<string, unknown>)[name] : undefined;
  const resources = reported?.["resources"];
  return {
    tools: reported?.["tools"] !== undefined,
    resources: resources !== undefined,
    subscribe: member(resources, "subscribe") === true,
    listChanged: member(resources, "listChanged") === true,
    completions: reported?.["completions"] !== undefined,
  };
}

/** Counts the nesting levels of objects and arrays without recursion, because the sender chooses the depth. */
export function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      // Adds values one by one: the sender also chooses the width of a level, and the arguments of a call are on the stack.
      for (const inner of Object.values(one)) if (isComposite(inner)) next.push(inner);
    }
    const hasAny = level.some(isComposite);
    if (!hasAny) return depth;
    if (next.length === 0) return depth + 1;
    level = next;
  }
}

function isComposite(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Returns the same value with the members of every object in a fixed order. Its depth was already checked. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ["list", ...value.map(canonical)];
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return members.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, canonical(inner)]);
}

function described({ title, description }: { title?: string | undefined; description?: string | undefined }): {
  title?: string;
  description?: string;
} {
  const line = cleanLine(title ?? "", MAX_TITLE_CHARS);
  const text = cut(cleanText(cut(description ?? "", MAX_DESCRIPTION_CHARS * 4)), MAX_DESCRIPTION_CHARS);
  return { ...(line !== "" && { title: line }), ...(text !== "" && { description: text }) };
}

function mimeType(reported: string | undefined): string | undefined {
  const type = (reported ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type.length <= MAX_TYPE_CHARS && /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type) ? type : undefined;
}

/** Whether all its characters are visible, so that no two names differ only invisibly. */
function isPlain(text: string, maxChars: number): boolean {
  return (
    text !== "" && text.length <= maxChars && cleanText(text) === text && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)
  );
}
