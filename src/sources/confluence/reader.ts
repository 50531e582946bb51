import type { makeAtlassianHttp } from "#sources/atlassian/client.ts";
import { orNothing } from "#sources/failures.ts";
import {
  Content,
  type GroupRecord,
  type NodeRef,
  type PageRecord,
  type SpaceRecord,
  type UserRecord,
} from "./records.ts";

/** A user or group with permission to read a space. */
export type SpaceReader = { type: "user" | "group"; id: string } | { type: "licensed" };

export type SiteHttp = Pick<ReturnType<typeof makeAtlassianHttp>, "send" | "get">;

/** The requests that differ between Cloud and Data Center. */
export interface SiteReader {
  /** Lists every space that the account sees, without archived ones. */
  spaces(): Promise<SpaceRecord[]>;
  /** Returns the ids of the spaces that are visible without signing in. */
  openSpaces(): Promise<ReadonlySet<string>>;
  readersOf(space: SpaceRecord): Promise<SpaceReader[]>;
  /** Lists the published contents of a space, without their texts. */
  contents(space: SpaceRecord, type: PageRecord["type"]): AsyncGenerator<PageRecord[], void>;
  /** Returns the published pages with these ids. Missing pages are left out. */
  pagesByIds(ids: readonly string[], which: { hasTexts: boolean }): Promise<PageRecord[]>;
  /** Returns the location of a node in the tree of a space; undefined if it is unknown. */
  node(ref: NodeRef): Promise<{ spaceId: string; parent: NodeRef | undefined } | undefined>;
  content(id: string, expand: string): Promise<Content | undefined>;
  users(ids: readonly string[]): Promise<UserRecord[]>;
  /** Returns the groups that may use Confluence, if no listing of groups shows this. */
  accessGroups(): Promise<GroupRecord[]>;
}

export async function readContent(
  { get }: Pick<SiteHttp, "get">,
  base: string,
  id: string,
  expand: string,
): Promise<Content | undefined> {
  const content = await orNothing(() => get(`${base}/rest/api/content/${id}`, Content, { expand }));
  return content && withoutDrafts([content])[0];
}

/** Keeps only published contents, even if others were requested. */
export function withoutDrafts<T extends { status?: string | undefined }>(contents: readonly T[]): T[] {
  return contents.filter(({ status }) => status?.toLowerCase() === "current");
}
