/** The workspace and connector that request room. Turns go by workspace, then by connector. */
export interface Asker {
  workspaceId: string;
  connectorId: string;
}

/** Bytes that are reserved in the budget. */
export interface Held {
  /**
   * Changes the held size to the size that is needed. Never waits: an excess keeps other requests waiting until it is
   * released.
   */
  resize(bytes: number): void;
  /** Releases the room; a second call does nothing. */
  release(): void;
}

/** A place in a run's line. Places follow the order of the run's items. */
export interface Place {
  /**
   * Waits for room for `bytes`. The wait ends when every earlier place has its room or was released, and it is the
   * run's turn.
   *
   * @throws the signal's reason when it is aborted in the meantime
   */
  enter(bytes: number, signal: AbortSignal): Promise<Held>;
  /** Releases the room when the item needs no room, or no more. Does nothing while the place waits. */
  release(): void;
}

/** The places of one run, in order. */
export interface Line {
  take(): Place;
  /** Releases everything that the line's places hold. Called when the run is over. */
  close(): void;
}

export type ByteBudget = ReturnType<typeof makeByteBudget>;

/**
 * Limits the bytes of files that all runs and pushes hold together, from when the extraction reads a file until its
 * text is stored. A place that holds room never waits for more. A run's places get their room in the order of its
 * items, so the first item of a run never waits for a later one. Source: docs/decisions/0055.
 *
 * @param limit  bytes; a larger request passes alone
 */
export function makeByteBudget(limit: number) {
  const lines = new Set<OpenLine>();
  /** The number of the turn in which each workspace and connector last got room. */
  const lastTurn = new Map<string, number>();
  let held = 0;
  let turns = 0;
  /** The waiting place whose turn it is once there is room. */
  let next: Waiting | undefined;

  function admit(): void {
    for (;;) {
      if (next === undefined || next.isOver) next = choose();
      if (next === undefined || (held > 0 && held + next.bytes > limit)) return;
      const { pass } = next;
      next = undefined;
      pass();
    }
  }

  /** Returns the first place in the line that was served least recently, by workspace, then by connector. */
  function choose(): Waiting | undefined {
    let best: { waiting: Waiting; rank: [number, number] } | undefined;
    for (const line of lines) {
      const waiting = line.first();
      if (waiting === undefined) continue;
      const rank: [number, number] = [turnOf(line.asker.workspaceId), turnOf(line.asker.connectorId)];
      if (!best || rank[0] < best.rank[0] || (rank[0] === best.rank[0] && rank[1] < best.rank[1]))
        best = { waiting, rank };
    }
    return best?.waiting;
  }

  const turnOf = (who: string) => lastTurn.get(who) ?? 0;

  function serve({ workspaceId, connectorId }: Asker): void {
    turns += 1;
    for (const who of [workspaceId, connectorId]) lastTurn.set(who, turns);
    // A connector without a line isn't waiting. Forgetting its last turn only means that it may come first again.
    if (lastTurn.size <= 4 * lines.size + MANY_TURNS) return;
    const present = new Set([...lines].flatMap(({ asker }) => [asker.workspaceId, asker.connectorId]));
    for (const who of lastTurn.keys()) if (!present.has(who)) lastTurn.delete(who);
  }

  return {
    open(asker: Asker): Line {
      const line = makeLine(asker, {
        admit,
        hold(bytes) {
          held += bytes;
        },
        serve,
      });
      lines.add(line);
      return {
        take: line.take,
        close() {
          lines.delete(line);
          line.close();
          admit();
        },
      };
    },
    /** The number of bytes held now. */
    get held() {
      return held;
    },
  };
}

const MANY_TURNS = 1_000;

interface Waiting {
  bytes: number;
  isOver: boolean;
  pass(): void;
}

type OpenLine = ReturnType<typeof makeLine>;

/** The functions of a budget that its lines use. */
interface LineBudget {
  admit(): void;
  hold(bytes: number): void;
  serve(asker: Asker): void;
}

function makeLine(asker: Asker, budget: LineBudget) {
  /** Places in order, until they have room or are released. */
  const places: { waiting: Waiting | undefined }[] = [];
  const holding = new Set<Held>();

  function makeHeld(bytes: number): Held {
    let own = bytes;
    budget.hold(own);
    const room: Held = {
      resize(wanted) {
        if (!holding.has(room)) return;
        budget.hold(wanted - own);
        own = wanted;
        budget.admit();
      },
      release() {
        if (!holding.delete(room)) return;
        budget.hold(-own);
        budget.admit();
      },
    };
    holding.add(room);
    return room;
  }

  function take(): Place {
    const place: (typeof places)[number] = { waiting: undefined };
    places.push(place);
    const quit = () => {
      const at = places.indexOf(place);
      if (at === -1) return;
      places.splice(at, 1);
      if (place.waiting) place.waiting.isOver = true;
      budget.admit();
    };
    let room: Held | undefined;
    return {
      release: () => {
        if (room) room.release();
        else if (place.waiting === undefined) quit();
      },
      enter(bytes, signal) {
        return new Promise<Held>((resolve, reject) => {
          const giveUp = () => {
            quit();
            reject(signal.reason as Error);
          };
          if (signal.aborted) return giveUp();
          signal.addEventListener("abort", giveUp, { once: true });
          place.waiting = {
            bytes,
            isOver: false,
            pass() {
              signal.removeEventListener("abort", giveUp);
              places.splice(places.indexOf(place), 1);
              budget.serve(asker);
              room = makeHeld(bytes);
              resolve(room);
            },
          };
          budget.admit();
        });
      },
    };
  }

  return {
    asker,
    first: (): Waiting | undefined => places[0]?.waiting,
    take,
    close(): void {
      for (const { waiting } of places.splice(0)) if (waiting) waiting.isOver = true;
      for (const each of holding) each.release();
    },
  };
}
