import type { Principal, SourceAccess } from "#core/principals.ts";
import { tellGroup } from "#sources/atlassian/people.ts";
import { type Failures, ifUnderstood } from "#sources/failures.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { ConfluenceClient } from "./client.ts";
import type { Mapping } from "./map.ts";
import { formatId, groupIds, spaceRef } from "./ids.ts";
import type { NodeRef, PageRecord } from "./records.ts";
import type { Subjects } from "./restrictions.ts";

const NOBODY: SourceAccess = { known: false };

/** Deeper trees are a circle, or somebody's joke. */
const MOST_DEPTH = 200;

interface Node {
  spaceId: string;
  parent: NodeRef | undefined;
}

/** Who reads pages. */
export interface Judged {
  groups: Outcome[];
  accessOf(page: PageRecord): SourceAccess;
  /** Pages of which that can be told, or is known not to be told. */
  known: PageRecord[];
  /** External ids of the others. */
  failed: string[];
}

/**
 * Where the pages of a space stand, and what restricts reading them: each of them AND all that is above. What a page
 * stands below and that can't be told makes it nobody's.
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
  /** What a listing shows is not asked for. */
  listed: ReadonlyMap<string, PageRecord> = new Map(),
) {
  const { openFolders } = config;
  const nodes = new Map<string, Promise<Node | undefined>>();
  /** What is asked once; open ones have nobody in them. */
  const restrictions = new Map<string, Subjects | undefined>();
  /**
   * Folders and the like: that nobody restricts them is what Cloud answers of restricted ones, too.
   * Source: https://jira.atlassian.com/browse/CONFCLOUD-82920
   */
  const folders = new Set<string>();

  const nodeOf = (ref: NodeRef): Promise<Node | undefined> => {
    const node = nodes.get(ref.id) ?? ifUnderstood(() => client.node(ref));
    nodes.set(ref.id, node);
    return node;
  };

  /** Ids from a page up to the top of its space; undefined where they can't be told. */
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

  /** The group of those whom a restriction lets in, as it is told between items. */
  function* tellRestriction(id: string, subjects: Subjects, spaceId: string): Generator<Outcome> {
    const members = subjects.flatMap((subject) => principalOf(subject) ?? []);
    for (const event of tellGroup(names, groupIds.restriction(id), members)) {
      yield { ...event, containers: [spaceRef(spaceId)] };
    }
  }

  return {
    /** Who reads these, and the groups that this names. Who reads what is `failed` is as it was. */
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
      const told = new Set<string>();
      for (const { id, spaceId } of pages) {
        for (const each of chains.get(id) ?? []) {
          const subjects = restrictions.get(each);
          if (told.has(each) || !subjects || subjects.length === 0) continue;
          told.add(each);
          groups.push(...tellRestriction(each, subjects, spaceId));
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
