/** Parses lists of records in a provider's response. A record may have a shape that its source doesn't know. */
import { unavailable } from "#sources/errors.ts";
import { z } from "zod";
import type { ApiError } from "#api/errors.ts";
import type { WalkEnd } from "./session.ts";
import { failedSkip } from "./failures.ts";

/** The records of a list, and what is known about the records that could not be parsed. */
export interface Listed<T> {
  /** The total number of records, including those that could not be parsed. */
  size: number;
  known: T[];
  /** Ids of records that could not be parsed. */
  odd: string[];
  /** Number of records that could not be parsed and have no id. If it isn't 0, the list is incomplete. */
  nameless: number;
}

/**
 * Parses a list of records that become items or contain items. Each record is either parsed or counted.
 *
 * @param id  reads the id of a record, regardless of its other fields; without it, records that can't be parsed are
 * only counted
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

/** Reads the id of a record under a key, for `listed`. */
export function idAt(key: string, id: z.ZodType<string>): z.ZodType<string> {
  return z.record(z.string(), z.unknown()).transform((record, context) => {
    const { data } = id.safeParse(record[key]);
    if (data !== undefined) return data;
    context.addIssue({ code: "custom", message: "no id" });
    return z.NEVER;
  });
}

/**
 * Parses a list and drops the records that don't fit the schema. Never use it for records that become items or contain
 * items: use `listed` for those.
 */
export function many<T extends z.ZodType>(schema: T) {
  return z.array(z.unknown()).transform((list): z.infer<T>[] =>
    list.flatMap((each) => {
      const { success, data } = schema.safeParse(each);
      return success ? [data] : [];
    }),
  );
}

export type OddRecords = ReturnType<typeof makeOddRecords>;

/** Collects the records in a client's lists that can't be parsed, until the caller fetches them with `take`. */
export function makeOddRecords() {
  let odd: string[] = [];
  let nameless = 0;
  const take = (): { ids: string[]; nameless: number } => {
    const taken = { ids: [...new Set(odd)], nameless };
    [odd, nameless] = [[], 0];
    return taken;
  };
  return {
    /** Returns the parsed records, and collects the others. */
    known<T>(list: Listed<T>): T[] {
      for (const id of list.odd) odd.push(id);
      nameless += list.nameless;
      return list.known;
    },
    /** Adds a record that was parsed but lacks required data. */
    add(id: string): void {
      odd.push(id);
    },
    /** Returns the records that were collected since the last call. */
    take,
    /** Returns the result of a read, and the records that were collected during this read alone. */
    async of<T>(read: () => Promise<T>): Promise<{ found: T; ids: string[]; nameless: number }> {
      take();
      return { found: await read(), ...take() };
    },
  };
}

/**
 * Builds the error for a listing that was only partly parsed: records that were read are kept, and the others aren't
 * treated as gone.
 */
export function halfRead(message: string): ApiError {
  return unavailable(message, 200);
}

/** The message for a record that can't be parsed. */
export const NOT_UNDERSTOOD = "kb doesn't understand the provider's answer about it.";

/**
 * Builds the event for records of a list that have no id. They are counted under the id of their container, such as
 * `project 10000`.
 */
export function namelessSkip(externalId: string, count: number, what: string): ReturnType<typeof failedSkip> {
  return failedSkip(externalId, `kb doesn't understand ${count} ${what}.`);
}

/**
 * Builds the end of a run that either listed all containers, or could not parse all of their list and therefore removes
 * nothing.
 */
export function completeOf(isWhole: boolean, list: string): Pick<WalkEnd<unknown>, "complete" | "why"> {
  if (isWhole) return { complete: true };
  return { complete: false, why: `kb doesn't understand all of ${list}, so it removes nothing.` };
}
