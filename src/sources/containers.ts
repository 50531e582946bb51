/** The projects, spaces, channels and rooms of a source: read one after another, each as good or bad as it is by itself. */
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

/** What a source says of its containers. */
export interface ContainerSpec<C> {
  /** Under which key the state has what is known of each. */
  key: string;
  refOf(id: string): ContainerRef;
  /** What people call it. */
  nameOf(container: C): string;
  /** What stands in its items: with another one it is read again. `nameOf` unless told. */
  labelOf?(container: C): string;
  /** The order of their ids; that of text unless told. */
  compare?(a: string, b: string): number;
  /** Under what its failure is counted; its id unless told. */
  countedAs?(id: string): string;
  /** Each has a feed of its own that waits for it: one that was read as a whole and fails is not read so again. */
  hasFeeds?: boolean;
  /** What else the source forgets of one that was not read. */
  forget?(id: string): void | Promise<void>;
  failures: Failures;
}

/** A list of containers. */
export interface ContainerList<C> {
  known: readonly C[];
  /** Ids of those that aren't understood. */
  odd: readonly string[];
  /** There are no others, whose ids aren't understood either. */
  isWhole: boolean;
}

/** Where a walk stands: up to `after` all were read, and of the `open` one what comes before `at`. */
export interface ContainerPlace<At, Feed> {
  /** Where the feed of changes stood when the walk began: the next run goes on there. */
  feed: Feed;
  after: string;
  /** With another label it is read from its beginning: what an attempt before told of it has the former one. */
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
 * What is said of one container; `at` is where the next page of it begins. An attempt that goes on after a page without one
 * begins where the page before it said, or with the container.
 */
export type ContainerEvent<At> = Exclude<WalkEvent<never>, Page<never>> | ContainerPage<At>;

export interface ContainerPage<At> extends Omit<Page<never>, "checkpoint" | "within"> {
  at?: At | undefined;
}

/** So many ids fit into one value of the state; of more, only a whole listing finds those that are gone. */
const MOST_KNOWN = 4_000;
const Ids = z.array(z.string());

export type Containers<C extends { id: string }> = ReturnType<typeof makeContainers<C>>;

/** What is known of the containers of a connector between its runs. */
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

  /** It was read as a whole under the name that it has. */
  const isKnown = async (container: C) => (await state.get(stateKeyOf(key, container.id))) === labelOf(container);

  /** One that is refused, or fails, alone. The next run reads it whole, or goes on by its feed. @throws what is about more than it */
  async function notRead(container: C, error: unknown): Promise<Result | Failed> {
    const { id } = container;
    const code = refusalOf(error);
    if (code === undefined) await failures.requireOfOne(error);
    const goesOn = code === undefined && hasFeeds && (await isKnown(container));
    if (code === undefined && !goesOn) await waits.failed(id);
    if (!goesOn) await forget(id);
    if (code !== undefined) return { t: "refused", what: { container: refOf(id) }, code };
    const why = isApiError(error) ? `: ${error.message}` : ".";
    return failed(id, `${nameOf(container)} can't be read now${why}`);
  }

  /**
   * Reads these one after another, in the order of their ids, from a place on.
   *
   * @param read  gives what is in one of them, from a place on where an attempt has ended
   * @throws what is about more than one
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

  /** What is said of one that waits: it stays as it is. */
  const waiting = (id: string, name: string) =>
    failed(id, `${name} could not be read several times. It is tried again later.`);

  return {
    notRead,
    forget,
    walk,
    isKnown,
    /** It failed several times, and isn't tried as a whole now. */
    isWaiting: ({ id }: Pick<C, "id">) => waits.isWaiting(id),
    waiting,
    /** It was read as a whole. */
    async isRead(container: C): Promise<void> {
      state.put(stateKeyOf(key, container.id), labelOf(container));
      await waits.done(container.id);
    },
    /** Those that were listed and aren't understood: each stays as it is. */
    async *odd({ odd }: Pick<ContainerList<C>, "odd">): AsyncGenerator<Failed, void> {
      for (const id of odd) {
        await forget(id);
        yield failed(id, NOT_UNDERSTOOD);
      }
    },
    /** Notes which there are. Of a list that isn't whole those of before may be `here` still; `gone` are not. */
    async keep({ known, odd, isWhole }: ContainerList<C>): Promise<{ here: ReadonlySet<string>; gone: string[] }> {
      const before = Ids.safeParse(await state.get(listKey)).data ?? [];
      const here = new Set([...known.map(({ id }) => id), ...odd, ...(isWhole ? [] : before)]);
      state.put(listKey, [...here].slice(0, MOST_KNOWN));
      const gone = before.filter((id) => !here.has(id));
      for (const id of gone) await forget(id);
      return { here, gone };
    },
    /** Reads as a whole those that are new, or are called otherwise now. Gives all that can be read. */
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

/** Numbers as text, by their value. */
export function byNumber(a: string, b: string): number {
  return a.length - b.length || byText(a, b);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
