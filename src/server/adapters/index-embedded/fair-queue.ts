/** A queue in which every workspace has its turn: one with many questions can't hold up the others. Source: S24. */
export interface FairQueue<T> {
  add(workspaceId: string, entry: T): void;
  /** The oldest entry of the workspace whose turn it is. */
  take(): T | undefined;
  /** Everything that still waits. */
  drain(): T[];
}

export function makeFairQueue<T>(): FairQueue<T> {
  const lines = new Map<string, T[]>();
  return {
    add(workspaceId, entry) {
      const line = lines.get(workspaceId);
      if (line === undefined) lines.set(workspaceId, [entry]);
      else line.push(entry);
    },
    take() {
      for (const [workspaceId, line] of lines) {
        // Back to the end of the round.
        lines.delete(workspaceId);
        const entry = line.shift();
        if (line.length > 0) lines.set(workspaceId, line);
        return entry;
      }
      return undefined;
    },
    drain() {
      const rest = [...lines.values()].flat();
      lines.clear();
      return rest;
    },
  };
}
