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

/** To whom the reading of a space is given. */
export type SpaceReader = { type: "user" | "group"; id: string } | { type: "licensed" };

export type SiteHttp = Pick<ReturnType<typeof makeAtlassianHttp>, "send" | "get">;

/** What Cloud and Data Center are asked in different ways. */
export interface SiteReader {
  /** Every space that the account sees, archived ones left out. */
  spaces(): Promise<SpaceRecord[]>;
  /** Ids of the spaces that are shown to who has not signed in. */
  openSpaces(): Promise<ReadonlySet<string>>;
  readersOf(space: SpaceRecord): Promise<SpaceReader[]>;
  /** The published pages and blog posts of a space, without their texts. */
  tree(space: SpaceRecord): AsyncGenerator<PageRecord[], void>;
  /** Published ones; what is not there is left out. */
  pagesByIds(ids: readonly string[], which: { hasTexts: boolean }): Promise<PageRecord[]>;
  /** Where something in the tree of a space stands; undefined when that can't be told. */
  node(ref: NodeRef): Promise<{ spaceId: string; parent: NodeRef | undefined } | undefined>;
  content(id: string, expand: string): Promise<Content | undefined>;
  users(ids: readonly string[]): Promise<UserRecord[]>;
  /** Groups that may use Confluence, where no listing of groups tells. */
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

/** Published ones alone, whatever was asked for. */
export function withoutDrafts<T extends { status?: string | undefined }>(contents: readonly T[]): T[] {
  return contents.filter(({ status }) => status?.toLowerCase() === "current");
}
