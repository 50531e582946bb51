/**
 * Reads the projects, spaces, channels or rooms of a source one after another. A failure of one container doesn't
 * affect the others.
 */
import { refusedContainer } from "#sources/failures.ts";
import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import type { SyncContext } from "./context.ts";
import type { ContainerRef } from "./item.ts";
import { type Failures, refusalOf } from "./failures.ts";
import { NOT_UNDERSTOOD } from "./listed.ts";
import type { Failed, Result } from "./outcomes.ts";
import type { Page, WalkEvent } from "./session.ts";
import { stateKeyOf } from "./state-key.ts";
import { makeWaits } from "./waits.ts";

/** How a source describes its containers. */
export interface ContainerSpec<C> {
  /** Prefix of the state keys that store what is known about each container. */
  key: string;
  refOf(id: string): ContainerRef;
  /** The name that people see. */
  nameOf(container: C): string;
  /**
   * The container's label in the stored items. When the label changes, the container is read again. Defaults to
   * `nameOf`.
   */
  labelOf?(container: C): string;
  /** The order of ids; text order by default. */
  compare?(a: string, b: string): number;
  /** The id under which a failure of the container is counted. Defaults to the container's own id. */
  countedAs?(id: string): string;
  /**
   * Each container has its own change feed with a stored position, so a container that was read in full and then fails
   * isn't read in full again.
   */
  hasFeeds?: boolean;
  /** Deletes further data that the source keeps about a container that could not be read. */
  forget?(id: string): void | Promise<void>;
  failures: Failures;
}

/** A list of containers as a source returned it. */
export interface ContainerList<C> {
  known: readonly C[];
  /** Ids of records that could not be parsed. */
  odd: readonly string[];
  /** True = the list contains no records whose ids could not be parsed. */
  isWhole: boolean;
}

/**
 * Position of a walk: every container up to `after` was read, and so was the part of the `open` container before `at`.
 */
export interface ContainerPlace<At, Feed> {
  /** Position of the change feed when the walk began. The next run continues from this position. */
  feed: Feed;
  after: string;
  /**
   * The container that is being read. If its label has changed since, the container is read from its beginning, because
   * items from the earlier attempt have the old label.
   */
  open?: { id: string; label: string; at: At } | undefined;
}

export function placeSchema<At, Feed>(at: z.ZodType<At>, feed: z.ZodType<Feed>): z.ZodType<ContainerPlace<At, Feed>> {
  return z.object({
    feed,
    after: z.string(),
    open: z.object({ id: z.string(), label: z.string(), at }).optional(),
  });
}

/**
 * An event about one container. `at` is where its next page begins. If a page has no `at`, another attempt resumes from
 * the last `at`, or from the container's beginning.
 */
export type ContainerEvent<At> = Exclude<WalkEvent<never>, Page<never>> | ContainerPage<At>;

export interface ContainerPage<At> extends Omit<Page<never>, "checkpoint" | "within"> {
  at?: At | undefined;
}

/**
 * The most ids that fit into one value of the state. With more ids, only a complete listing finds the containers that
 * are gone.
 */
const MOST_KNOWN = 4_000;
const Ids = z.array(z.string());

export type Containers<C extends { id: string }> = ReturnType<typeof makeContainers<C>>;

/** Keeps what is known about a connector's containers between its runs. */
export function makeContainers<C extends { id: string }>(
  { state, now }: Pick<SyncContext<unknown>, "state" | "now">,
  {
    key,
    refOf,
    nameOf,
    labelOf = nameOf,
    countedAs = (id) => id,
    compare = byText,
    hasFeeds = false,
    failures,
    ...spec
  }: ContainerSpec<C>,
) {
  const waits = makeWaits({ state, now });
  const listKey = `${key}s`;
  const forget = async (id: string) => {
    state.put(stateKeyOf(key, id), undefined);
    await spec.forget?.(id);
  };
  const failed = (id: string, message: string): Failed => ({
    t: "failed",
    what: { container: refOf(id) },
    message,
    as: countedAs(id),
  });

  /** Whether the container was read in full under its present label. */
  const isKnown = async (container: C) => (await state.get(stateKeyOf(key, container.id))) === labelOf(container);

  /**
   * Handles a container that is refused or fails while others work. The next run reads it in full, or continues from
   * its feed.
   * @throws errors that concern more than this container
   */
  async function notRead(container: C, error: unknown): Promise<Result | Failed> {
    const { id } = container;
    const code = refusalOf(error);
    if (code === undefined) await failures.requireOfOne(error);
    const goesOn = code === undefined && hasFeeds && (await isKnown(container));
    if (code === undefined && !goesOn) await waits.failed(id);
    if (!goesOn) await forget(id);
    if (code !== undefined) return refusedContainer(refOf(id), code);
    const why = isApiError(error) ? `: ${error.message}` : ".";
    return failed(id, `${nameOf(container)} can't be read now${why}`);
  }

  /**
   * Reads these containers one after another, in the order of their ids, starting from a position.
   *
   * @param read  yields the contents of one container, from the position where an earlier attempt ended
   * @throws errors that concern more than one container
   */
  async function* walk<At, Feed>(
    containers: readonly C[],
    { feed, after: from, open }: ContainerPlace<At, Feed>,
    read: (container: C, at: At | undefined) => AsyncIterable<ContainerEvent<At>>,
  ): AsyncGenerator<WalkEvent<ContainerPlace<At, Feed>>, void> {
    let after = from;
    for (const container of [...containers].sort((a, b) => compare(a.id, b.id))) {
      const [{ id }, label] = [container, labelOf(container)];
      if (after !== "" && compare(id, after) <= 0) continue;
      try {
        let position = open?.id === id && open.label === label ? open.at : undefined;
        for await (const event of read(container, position)) {
          if (event.t !== "page") {
            yield event;
            continue;
          }
          const { at, ...page } = event;
          position = at ?? position;
          const place = position !== undefined && { open: { id, label, at: position } };
          yield { ...page, checkpoint: { feed, after, ...place } };
        }
        failures.well();
      } catch (error) {
        yield await notRead(container, error);
      }
      after = id;
      yield { t: "page", entries: [], checkpoint: { feed, after } };
    }
  }

  /**
   * Builds the event for a container of which one list could not be read. Items in its other lists are current, and all
   * other items stay unchanged.
   */
  const inPart = (container: C, message: string): Failed => {
    const { id } = container;
    return { t: "failed", what: { container: refOf(id), isRest: true }, message, as: countedAs(id) };
  };

  /** Builds the event for a container whose retry is delayed: its items stay unchanged. */
  const waiting = (id: string, name: string) =>
    failed(id, `${name} could not be read several times. It is tried again later.`);

  return {
    notRead,
    inPart,
    forget,
    walk,
    isKnown,
    /** Whether the container failed several times and isn't read in full for now. */
    isWaiting: ({ id }: Pick<C, "id">) => waits.isWaiting(id),
    waiting,
    /** Records that the container was read in full. */
    async isRead(container: C): Promise<void> {
      state.put(stateKeyOf(key, container.id), labelOf(container));
      await waits.done(container.id);
    },
    /**
     * Records that some of the container's lists could not be read. If the container was never read in full, it is
     * retried after increasing delays.
     */
    async isReadInPart(container: C): Promise<void> {
      if (!(await isKnown(container))) await waits.failed(container.id);
    },
    /** Reports containers that were listed but could not be parsed. Their items stay unchanged. */
    async *odd({ odd }: Pick<ContainerList<C>, "odd">): AsyncGenerator<Failed, void> {
      for (const id of odd) {
        await forget(id);
        yield failed(id, NOT_UNDERSTOOD);
      }
    },
    /**
     * Stores which containers exist. After an incomplete list, containers known from before stay in `here`. The
     * containers in `gone` no longer exist.
     */
    async keep({ known, odd, isWhole }: ContainerList<C>): Promise<{ here: ReadonlySet<string>; gone: string[] }> {
      const before = Ids.safeParse(await state.get(listKey)).data ?? [];
      const here = new Set([...known.map(({ id }) => id), ...odd, ...(isWhole ? [] : before)]);
      state.put(listKey, [...here].slice(0, MOST_KNOWN));
      const gone = before.filter((id) => !here.has(id));
      for (const id of gone) await forget(id);
      return { here, gone };
    },
    /** Reads new or renamed containers in full. Returns every container that can be read. */
    async *readNew<At, Feed>(
      containers: readonly C[],
      place: ContainerPlace<At, Feed>,
      read: (container: C, at: At | undefined) => AsyncIterable<ContainerEvent<At>>,
    ): AsyncGenerator<WalkEvent<ContainerPlace<At, Feed>>, C[]> {
      const fresh: C[] = [];
      for (const container of containers) {
        if (await isKnown(container)) continue;
        if (await waits.isWaiting(container.id)) yield waiting(container.id, nameOf(container));
        else fresh.push(container);
      }
      yield* walk(fresh, place, read);
      const open: C[] = [];
      for (const container of containers) if (await isKnown(container)) open.push(container);
      return open;
    },
  };
}

/** Compares two numbers written as text by their numeric value. */
export function byNumber(a: string, b: string): number {
  return a.length - b.length || byText(a, b);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
