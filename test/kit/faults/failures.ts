import { z } from "zod";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SourceRef } from "#sources/outcomes.ts";
import { rewriting } from "../answers.ts";
import { TOKEN } from "../reference/provider.ts";
import { type Event, type Faults, onEvents } from "./plant.ts";

/** Faults in a remote that fails. */
export const FAILURES: Faults = {
  "an unreachable remote is empty": {
    caughtBy: "unreachable",
    plant: (source) => ({
      async *sync(ctx, run) {
        try {
          yield* source.sync(ctx, run);
        } catch {
          yield { t: "end", listing: "complete", permissions: "current" };
        }
      },
    }),
  },
  "a remote that says 401 is unreachable": {
    caughtBy: "unauthorized",
    plant: (source) => ({
      async *sync(ctx, run) {
        try {
          yield* source.sync(ctx, run);
        } catch (error) {
          throw new Error("Something failed.", { cause: error });
        }
      },
    }),
  },
  "a 429 is tried again and again": {
    caughtBy: "limited",
    plant: (source) => ({
      async *sync(ctx, run) {
        for (;;) {
          try {
            return yield* source.sync(ctx, run);
          } catch {
            ctx.signal.throwIfAborted();
          }
        }
      },
    }),
  },
  "a limit is said to be a matter of signing in": {
    caughtBy: "engine",
    plant: (source) => ({
      async *sync(ctx, run) {
        try {
          yield* source.sync(ctx, run);
        } catch (error) {
          if (!isApiError(error, "source_rate_limited")) throw error;
          throw new ApiError("source_unauthorized", { message: "Sign in again." });
        }
      },
    }),
  },
  "a listing of everything takes away what it will name": {
    caughtBy: "engine",
    plant: (source) => ({
      async *sync(ctx, run) {
        const before: string[] = [];
        for (const id of run.mode === "full" ? ["a", "b"] : [])
          for await (const { externalId } of ctx.stored.list({ type: "space", id })) before.push(externalId);
        for (const externalId of before) yield { t: "delete", externalId };
        yield* source.sync(ctx, run);
      },
    }),
  },
  "until a first run ends what it reads is for everyone": {
    caughtBy: "engine",
    plant: (source) => ({
      async *sync(ctx, run) {
        const told: { externalId: string; access: SourceAccess }[] = [];
        for await (const event of source.sync(ctx, run)) {
          if (event.t === "upsert" && event.item.access && run.mode === "full") {
            told.push({ externalId: event.item.externalId, access: event.item.access });
            yield { ...event, item: { ...event.item, access: { known: true, all: [["everyone"]] } } };
            continue;
          }
          if (event.t === "end") for (const each of told) yield { t: "access", ...each };
          yield event;
        }
      },
    }),
  },
  "a request that hangs ignores the abort": {
    caughtBy: "hang",
    plant: (source) => ({
      async *sync(ctx, run) {
        // A way out of its own, which nobody told of the abort.
        await fetch(`${ctx.config.url}/me`);
        yield* source.sync(ctx, run);
      },
    }),
  },
  "a refused container is taken for empty": {
    caughtBy: "one-container",
    plant: (source) =>
      onEvents(source, (event) => {
        if (event.t === "refused") return [];
        return [event.t === "end" ? { t: "end", listing: event.listing, permissions: "current" } : event];
      }),
  },
  "a refusal is only something not looked at": {
    caughtBy: "engine",
    plant: (source) => ({
      async *sync(ctx, run) {
        const notLookedAt: SourceRef[] = [];
        for await (const event of source.sync(ctx, run)) {
          if (event.t === "refused") notLookedAt.push(event.what);
          else yield event.t === "end" ? { ...event, notLookedAt } : event;
        }
      },
    }),
  },
  "an item that is refused ends the run": {
    caughtBy: "one-item",
    plant: (source) => ({
      async *sync(ctx, run) {
        for await (const event of source.sync(ctx, run)) {
          if (event.t === "upsert") await source.fetchContent(ctx, { externalId: event.item.externalId });
          yield event;
        }
      },
    }),
  },
  "a secret in a message": {
    caughtBy: "secrets",
    plant: (source) => ({
      async check(ctx) {
        const answer = await source.check(ctx);
        if (answer.ok) return answer;
        const message = `${answer.problem.message} The token was ${TOKEN}.`;
        return { ok: false, problem: { ...answer.problem, message } };
      },
    }),
  },
  "the credential goes wherever a link leads": {
    caughtBy: "elsewhere",
    plant: (source) => ({
      async *sync(ctx, run) {
        // A listing read without the source's client, which would not follow.
        const headers = { authorization: `Bearer ${TOKEN}` };
        for (let next: string | undefined = `${ctx.config.url}/spaces`; next !== undefined;) {
          const answer: Response = await fetch(next, { headers, signal: ctx.signal });
          next = answer.ok ? z.object({ next: z.string().optional() }).parse(await answer.json()).next : undefined;
        }
        yield* source.sync(ctx, run);
      },
    }),
  },
  "a space that fails is taken for empty": {
    caughtBy: "two-containers",
    plant: (source) =>
      onEvents(source, (event) => [
        event.t === "end" ? { t: "end", listing: event.listing, permissions: event.permissions } : event,
      ]),
  },
  "a space that fails ends the run": {
    caughtBy: "two-containers",
    plant: (source) =>
      onEvents(source, (event) => {
        if (event.t === "skip" && event.reason === "failed")
          throw new ApiError("source_unavailable", { message: "No." });
        return [event];
      }),
  },
  "a record that isn't understood is left out": {
    caughtBy: "odd-record",
    plant: (source) => behind(source, (value) => dropped(value, (record) => typeof record["title"] === "string")),
  },
  "a record without an id is left out": {
    caughtBy: "odd-record",
    plant: (source) => behind(source, (value) => dropped(value, (record) => typeof record["id"] === "string")),
  },
  "one record that isn't understood ends the run": {
    caughtBy: "odd-record",
    plant: (source) =>
      behind(source, (value) => {
        if (hasOdd(value)) throw new ApiError("source_unavailable", { message: "It isn't understood." });
        return value;
      }),
  },
  "a mark of the end that isn't understood is the end": {
    caughtBy: "odd-end",
    plant: (source) =>
      behind(source, (value) => {
        const { next, ...rest } = Object(value) as Record<string, unknown>;
        return next === undefined || typeof next === "string" ? value : rest;
      }),
  },
  "an item that can't be read ends a run of single items": {
    caughtBy: "one-asked",
    plant: (source) =>
      onEvents(source, (event, _ctx, run) => {
        if (run.mode === "items" && event.t === "skip")
          throw new ApiError("source_unavailable", { message: event.message });
        return [event];
      }),
  },
  "a container that answers something else ends the run": {
    caughtBy: "one-answer",
    plant: (source) =>
      onEvents(source, (event, _ctx, run) => {
        if (run.mode === "full" && event.t === "skip") throw new Error("It isn't understood.");
        return [event];
      }),
  },
  "what failed is gone": {
    caughtBy: "failed-then-killed",
    plant: (source) =>
      onEvents(source, (event) => {
        if (event.t !== "end") return [event];
        const { notLookedAt: _notLookedAt, ...end } = event;
        return [end];
      }),
  },
  "a space that is open again is not read": {
    caughtBy: "opens-again",
    plant: (source) => ({
      sync: (ctx, run) =>
        // Each space passes for one that was read under its name.
        source.sync({ ...ctx, state: { ...ctx.state, get: async (key) => key.replace("space:", "Space ") } }, run),
    }),
  },
  "a remote that is down is asked for everything": {
    caughtBy: "goes-down",
    plant: (source) => ({
      async *sync(ctx, run) {
        for (let tries = 0; ; tries++) {
          try {
            return yield* source.sync(ctx, run);
          } catch (error) {
            if (tries > 30) throw error;
          }
        }
      },
    }),
  },
  "a page that moves while a run walks is gone": {
    caughtBy: "move-during-walk",
    plant: (source) => ({
      async *sync(ctx, run) {
        let held: Event[] = [];
        for await (const event of source.sync(ctx, run)) {
          // Without the changes of meanwhile.
          if (event.t === "checkpoint") {
            if (run.mode !== "full" || event.cursor.walk !== undefined) yield* held;
            held = [];
          }
          if (event.t === "upsert") held.push(event);
          else yield event;
        }
      },
    }),
  },
  "an item that can't be read is gone": {
    caughtBy: "one-asked",
    plant: (source) =>
      onEvents(source, (event, _ctx, run) =>
        run.mode === "items" && event.t === "skip" ? [{ t: "delete", externalId: event.externalId }] : [event],
      ),
  },
  "what comes after an item that can't be read is not asked for": {
    caughtBy: "one-asked",
    plant: (source) => ({
      async *sync(ctx, run) {
        for await (const event of source.sync(ctx, run)) {
          yield event;
          if (run.mode !== "items" || event.t !== "skip") continue;
          yield { t: "end", listing: "partial", permissions: "not_checked" };
          return;
        }
      },
    }),
  },
};

/** The source behind something that changes each answer of the remote. */
function behind(source: Parameters<typeof onEvents>[0], change: (value: unknown) => unknown) {
  return {
    sync: (ctx: Parameters<typeof source.sync>[0], run: Parameters<typeof source.sync>[1]) =>
      source.sync({ ...ctx, http: rewriting(ctx.http, (_url, value) => change(value)) }, run),
  };
}

function dropped(value: unknown, isKept: (record: Record<string, unknown>) => boolean): unknown {
  const { values, ...rest } = Object(value) as { values?: unknown };
  if (!Array.isArray(values)) return value;
  const isSpaces = values.some((each) => typeof Object(each).name === "string");
  return isSpaces ? value : { ...rest, values: values.filter((each) => isKept(Object(each))) };
}

function hasOdd(value: unknown): boolean {
  const { values } = Object(value) as { values?: unknown };
  return Array.isArray(values) && values.some((each) => typeof Object(each).id !== "string");
}
