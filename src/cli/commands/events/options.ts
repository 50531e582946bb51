import type { EventTarget } from "#api/events.ts";
import type { Api } from "#cli/calls/api.ts";
import { type Thing, idOf } from "#cli/calls/remote-command.ts";
import { pickNamed } from "#cli/line/pick.ts";

export const TARGET: Thing<EventTarget, { id: string }> = {
  name: "target",
  summary: "the event target: its URL or whk_…",
  find: findTarget,
  at: idOf,
};

/** The argument of commands that check their other arguments before they look up the target. */
export const TARGET_ARGUMENT = { "<target>": TARGET.summary } as const;

/** Finds an event target by its id, its URL or its host. Throws CliFailure 3 with the nearest target if none matches, 2 if several match. */
export async function findTarget(api: Api, word: string): Promise<EventTarget> {
  if (/^whk_[a-z0-9]+$/.test(word)) {
    return (await api.get("/api/webhooks/{id}", { params: { path: { id: word } } })).target;
  }
  const { targets } = await api.get("/api/webhooks");
  return pickNamed(targets, word, ({ id, url }) => ({ id, names: [url, new URL(url).host] }), {
    many: "event targets",
    none: `No events are sent to "${word}".`,
    list: "kb events list",
  });
}
