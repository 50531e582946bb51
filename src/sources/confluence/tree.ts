import type { Principal, SourceAccess } from "#core/principals.ts";
import { reportGroup } from "#sources/atlassian/people.ts";
import { type Failures, ifUnderstood } from "#sources/failures.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { ConfluenceClient } from "./client.ts";
import type { Mapping } from "./map.ts";
import { formatId, groupIds, spaceRef } from "./ids.ts";
import type { NodeRef, PageRecord } from "./records.ts";
import type { Subjects } from "./restrictions.ts";

const NOBODY: SourceAccess = { known: false };

/** The depth limit of a tree. A deeper tree is a cycle, or was made to cause harm. */
const MOST_DEPTH = 200;

interface Node {
  spaceId: string;
  parent: NodeRef | undefined;
}

/** The result of looking up the readers of pages. */
export interface Judged {
  groups: Outcome[];
  accessOf(page: PageRecord): SourceAccess;
  /** Pages whose readers are known, or whose readers can't be known at all. */
  known: PageRecord[];
  /** External ids of the remaining pages. */
  failed: string[];
}

/**
 * Keeps the positions of a space's pages in its tree, and their read restrictions: a page's own AND those of everything
 * above it. A page with an unknown ancestor is visible to no one.
 */
export function makeTree(
  {
    client,
    failures,
    mapping: { names, config },
  }: {
    client: Pick<ConfluenceClient, "node" | "restrictionsOf">;
    failures: Pick<Failures, "requireOfOne">;
    mapping: Pick<Mapping, "names" | "config">;
  },
  /** Pages that a listing returned, which aren't requested again. */
  listed: ReadonlyMap<string, PageRecord> = new Map(),
) {
  const { openFolders } = config;
  const nodes = new Map<string, Promise<Node | undefined>>();
  /** The restrictions requested so far. A page without restrictions has an empty list. */
  const restrictions = new Map<string, Subjects | undefined>();
  /**
   * Ids of folders and similar nodes. Cloud reports that they have no restriction, even if they have one. Source:
   * https://jira.atlassian.com/browse/CONFCLOUD-82920
   */
  const folders = new Set<string>();

  const nodeOf = (ref: NodeRef): Promise<Node | undefined> => {
    const node = nodes.get(ref.id) ?? ifUnderstood(() => client.node(ref));
    nodes.set(ref.id, node);
    return node;
  };

  /** Returns the ids from a page up to the top of its space; undefined if they are unknown. */
  async function chainOf({ id, parent, spaceId }: PageRecord): Promise<string[] | undefined> {
    const chain = [id];
    for (let above = parent; above;) {
      if (chain.length > MOST_DEPTH || chain.includes(above.id)) return undefined;
      chain.push(above.id);
      if (above.type !== "page") folders.add(above.id);
      const node = listed.get(above.id) ?? (await nodeOf(above));
      if (!node || node.spaceId !== spaceId) return undefined;
      above = node.parent;
    }
    return chain;
  }

  function principalOf(subject: Subjects[number]): Principal | undefined {
    if (subject.type === "unknown") return undefined;
    return subject.type === "user" ? names.user(subject.id) : names.group(groupIds.group(subject.id));
  }

  /** Reports the group of a restriction's readers, as an event between items. */
  function* reportRestriction(id: string, subjects: Subjects, spaceId: string): Generator<Outcome> {
    const members = subjects.flatMap((subject) => principalOf(subject) ?? []);
    for (const event of reportGroup(names, groupIds.restriction(id), members)) {
      yield { ...event, containers: [spaceRef(spaceId)] };
    }
  }

  return {
    /**
     * Reports the readers of these pages, and the groups that they name. Readers of the pages in `failed` stay
     * unchanged.
     */
    async judge(pages: readonly PageRecord[]): Promise<Judged> {
      const chains = new Map<string, string[] | undefined>();
      for (const page of pages) chains.set(page.id, await chainOf(page));
      const needed = [...new Set([...chains.values()].flatMap((chain) => chain ?? []))].filter(
        (id) => !restrictions.has(id),
      );
      for (const [id, subjects] of await client.restrictionsOf(needed, failures.requireOfOne)) {
        const isUnknown = subjects?.length === 0 && folders.has(id) && !openFolders;
        restrictions.set(id, isUnknown ? undefined : subjects);
      }
      const groups: Outcome[] = [];
      const reported = new Set<string>();
      for (const { id, spaceId } of pages) {
        for (const each of chains.get(id) ?? []) {
          const subjects = restrictions.get(each);
          if (reported.has(each) || !subjects || subjects.length === 0) continue;
          reported.add(each);
          groups.push(...reportRestriction(each, subjects, spaceId));
        }
      }
      const accessOf = ({ id, spaceId }: PageRecord): SourceAccess => {
        const chain = chains.get(id);
        const lists: (Principal | undefined)[] = [names.group(groupIds.space(spaceId))];
        for (const each of chain ?? []) {
          const subjects = restrictions.get(each);
          if (!subjects) return NOBODY;
          if (subjects.length > 0) lists.push(names.group(groupIds.restriction(each)));
        }
        const all = lists.flatMap((group) => (group === undefined ? [] : [[group]]));
        return chain && all.length === lists.length ? { known: true, all } : NOBODY;
      };
      const isFailed = ({ id }: PageRecord) => chains.get(id)?.some((each) => !restrictions.has(each)) === true;
      return {
        groups,
        accessOf,
        known: pages.filter((page) => !isFailed(page)),
        failed: pages.filter(isFailed).map(({ id }) => formatId({ type: "page", id })),
      };
    },
  };
}
