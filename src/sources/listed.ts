/** Lists of records that a provider answers, of which one may have a shape that its source doesn't know. */
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { WalkEnd } from "./session.ts";
import { failedSkip } from "./failures.ts";

/** The records of a list, and what is known of those that aren't understood. */
export interface Listed<T> {
  /** How many there are in all. */
  size: number;
  known: T[];
  /** Ids of records that aren't understood. */
  odd: string[];
  /** How many aren't, and give no id either: what the list is of was not listed whole. */
  nameless: number;
}

/**
 * A list of things that become items or hold them: each is understood, or counted.
 *
 * @param id  reads the id from a record whatever the rest of it is; without one nobody asks for them
 */
export function listed<T extends z.ZodType>(record: T, id: z.ZodType<string> = z.never()) {
  return z.array(z.unknown()).transform((all): Listed<z.infer<T>> => {
    const list: Listed<z.infer<T>> = { size: all.length, known: [], odd: [], nameless: 0 };
    for (const each of all) {
      const { success, data } = record.safeParse(each);
      const name = success ? undefined : id.safeParse(each).data;
      if (success) list.known.push(data);
      else if (name === undefined) list.nameless += 1;
      else list.odd.push(name);
    }
    return list;
  });
}

/** The id of a record under a key, for `listed`. */
export function idAt(key: string, id: z.ZodType<string>): z.ZodType<string> {
  return z.record(z.string(), z.unknown()).transform((record, context) => {
    const { data } = id.safeParse(record[key]);
    if (data !== undefined) return data;
    context.addIssue({ code: "custom", message: "no id" });
    return z.NEVER;
  });
}

/** What of a list fits; what doesn't is left out. Never for what becomes an item or holds items: for that there is `listed`. */
export function many<T extends z.ZodType>(schema: T) {
  return z.array(z.unknown()).transform((list): z.infer<T>[] =>
    list.flatMap((each) => {
      const { success, data } = schema.safeParse(each);
      return success ? [data] : [];
    }),
  );
}

export type OddRecords = ReturnType<typeof makeOddRecords>;

/** Keeps what a client met in its lists and doesn't understand, until who lists asks for it. */
export function makeOddRecords() {
  let odd: string[] = [];
  let nameless = 0;
  const take = (): { ids: string[]; nameless: number } => {
    const taken = { ids: [...new Set(odd)], nameless };
    [odd, nameless] = [[], 0];
    return taken;
  };
  return {
    /** The records that are understood; the others are kept. */
    known<T>(list: Listed<T>): T[] {
      for (const id of list.odd) odd.push(id);
      nameless += list.nameless;
      return list.known;
    },
    /** A record that was read and says too little. */
    add(id: string): void {
      odd.push(id);
    },
    /** What was kept since the last time. */
    take,
    /** What is read, and what was kept of that alone. */
    async of<T>(read: () => Promise<T>): Promise<{ found: T; ids: string[]; nameless: number }> {
      take();
      return { found: await read(), ...take() };
    },
  };
}

/** Of a listing that was understood in part: what was read stays, what was not is not gone. */
export function halfRead(message: string): ApiError {
  return new ApiError("source_unavailable", { message, details: { status: 200 } });
}

/** What is said of a record that isn't understood. */
export const NOT_UNDERSTOOD = "kb doesn't understand the provider's answer about it.";

/** Things of a list that give no id: they are counted under that of what holds them, such as `project 10000`. */
export function namelessSkip(externalId: string, count: number, what: string): ReturnType<typeof failedSkip> {
  return failedSkip(externalId, `kb doesn't understand ${count} ${what}.`);
}

/** How a run ends that has listed all containers, or doesn't understand all of their list: then it removes nothing. */
export function completeOf(isWhole: boolean, list: string): Pick<WalkEnd<unknown>, "complete" | "why"> {
  if (isWhole) return { complete: true };
  return { complete: false, why: `kb doesn't understand all of ${list}, so it removes nothing.` };
}
