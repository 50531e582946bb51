/** The workspace and the person for whom an entry waits. */
export interface Waiter {
  workspaceId: string;
  userId: string;
}

/**
 * A queue in which workspaces take turns and, within a workspace, its people take turns. A person with many queries
 * thus can't delay the others. Source: S24.
 */
export interface FairQueue<T> {
  readonly size: number;
  add(waiter: Waiter, entry: T): void;
  /** Removes and returns the oldest entry of the next person for whom `mayHave` is true. */
  take(mayHave?: (waiter: Waiter) => boolean): T | undefined;
  /**
   * Removes and returns the newest entry of the person who has the most waiting entries, in the workspace that has the
   * most.
   */
  shed(): T | undefined;
}

interface Line<T> {
  entries: { entry: T; number: number }[];
}

interface Workspace<T> {
  size: number;
  people: Map<string, Line<T>>;
}

export function makeFairQueue<T>(): FairQueue<T> {
  const workspaces = new Map<string, Workspace<T>>();
  let size = 0;
  let lastNumber = 0;

  function forget(workspaceId: string, userId: string): void {
    const workspace = workspaces.get(workspaceId);
    if (workspace === undefined) return;
    size--;
    workspace.size--;
    if (workspace.people.get(userId)?.entries.length === 0) workspace.people.delete(userId);
    if (workspace.size === 0) workspaces.delete(workspaceId);
  }

  return {
    get size() {
      return size;
    },
    add({ workspaceId, userId }, entry) {
      const workspace = workspaces.get(workspaceId) ?? { size: 0, people: new Map<string, Line<T>>() };
      const line = workspace.people.get(userId) ?? { entries: [] };
      line.entries.push({ entry, number: ++lastNumber });
      workspace.people.set(userId, line);
      workspaces.set(workspaceId, workspace);
      workspace.size++;
      size++;
    },
    take(mayHave = () => true) {
      for (const [workspaceId, workspace] of workspaces) {
        for (const [userId, line] of workspace.people) {
          if (!mayHave({ workspaceId, userId })) continue;
          // The workspace and the person go to the end of their queues.
          workspaces.delete(workspaceId);
          workspaces.set(workspaceId, workspace);
          workspace.people.delete(userId);
          workspace.people.set(userId, line);
          const first = line.entries.shift();
          forget(workspaceId, userId);
          return first?.entry;
        }
      }
      return undefined;
    },
    shed() {
      const fullest = most(workspaces, ({ size, people }) => [size, Math.max(...[...people.values()].map(newest))]);
      const longest = fullest && most(fullest[1].people, (line) => [line.entries.length, newest(line)]);
      if (fullest === undefined || longest === undefined) return undefined;
      const last = longest[1].entries.pop();
      forget(fullest[0], longest[0]);
      return last?.entry;
    },
  };
}

function newest({ entries }: Line<unknown>): number {
  return entries.at(-1)?.number ?? 0;
}

/** Returns the entry for which the pair of numbers is greatest. */
function most<V>(map: ReadonlyMap<string, V>, measure: (value: V) => [number, number]): [string, V] | undefined {
  let best: { entry: [string, V]; by: [number, number] } | undefined;
  for (const entry of map) {
    const by = measure(entry[1]);
    if (best === undefined || by[0] > best.by[0] || (by[0] === best.by[0] && by[1] > best.by[1])) best = { entry, by };
  }
  return best?.entry;
}
