import { ListCounter, type ListLevel } from "./list-numbers.ts";
import type { XmlHandler } from "./xml.ts";

/** The lists of a document. */
export type WordNumbering = ReturnType<typeof makeWordNumbering>;

/** Makes a reader for the numbering part, which also counts the items of each list in the order of the calls. */
export function makeWordNumbering() {
  const lists = new Map<string, ListLevel[]>();
  /** Concrete lists. Lists of the same abstract list continue its numbers, unless one restarts. */
  const concrete = new Map<string, { abstractId: string; levels: Map<number, Partial<ListLevel>> }>();
  const counters = new Map<string, ListCounter>();
  return {
    handler: makeReader(lists, concrete),
    /** Returns the marker of the next item of a list; undefined when there is no such list. */
    next(id: string, depth: number): string | undefined {
      const list = concrete.get(id);
      if (list === undefined) return undefined;
      const own = list.levels;
      const levels = (lists.get(list.abstractId) ?? []).map((level, index) => ({ ...level, ...own.get(index) }));
      const startsAnew = [...own.values()].some((level) => level.start !== undefined);
      const key = startsAnew ? `own ${id}` : list.abstractId;
      const counter = counters.get(key) ?? new ListCounter();
      counters.set(key, counter);
      return counter.next(Math.min(Math.max(0, depth), MAX_LEVELS - 1), levels);
    },
  };
}

const MAX_LEVELS = 9;
const MAX_LISTS = 20_000;

type ConcreteLists = Map<string, { abstractId: string; levels: Map<number, Partial<ListLevel>> }>;

function makeReader(lists: Map<string, ListLevel[]>, concrete: ConcreteLists): XmlHandler {
  let levels: ListLevel[] = [];
  let level: Partial<ListLevel> = {};
  let list: { abstractId: string; levels: Map<number, Partial<ListLevel>> } | undefined;
  let overridden = 0;
  return {
    open(name, attributes) {
      const value = attributes["w:val"] ?? "";
      switch (name) {
        case "w:abstractNum":
          levels = [];
          list = undefined;
          if (lists.size < MAX_LISTS) lists.set(attributes["w:abstractNumId"] ?? "", levels);
          return;
        case "w:num":
          list = { abstractId: "", levels: new Map() };
          if (concrete.size < MAX_LISTS) concrete.set(attributes["w:numId"] ?? "", list);
          return;
        case "w:abstractNumId":
          if (list !== undefined) list.abstractId = value;
          return;
        case "w:lvlOverride":
          overridden = levelIndex(attributes["w:ilvl"]);
          return;
        case "w:startOverride":
          list?.levels.set(overridden, { ...list.levels.get(overridden), start: Number(value) || 0 });
          return;
        case "w:lvl": {
          const index = levelIndex(attributes["w:ilvl"]);
          level = { format: "decimal", start: 1, pattern: "" };
          // The cast is safe because all three properties were set in the line above.
          if (list === undefined) levels[index] = level as ListLevel;
          else list.levels.set(index, level);
          return;
        }
        case "w:start":
          level.start = Number(value) || 0;
          return;
        case "w:numFmt":
          level.format = value;
          return;
        case "w:lvlText":
          level.pattern = value;
      }
    },
  };
}

function levelIndex(value: string | undefined): number {
  return Math.min(MAX_LEVELS - 1, Math.max(0, Number(value) || 0));
}
