import { useRef, useState } from "react";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { useRefetch, type QueryName } from "#server/web/app/data/refetch.ts";
import { toast } from "./toast.tsx";

/** The steps after an action that succeeded, in this order. */
export interface Outcome<Result> {
  /** The message that the action is done. */
  toast?: string | ((result: Result) => string | undefined);
  /** The queries that the action changed, by the first names in their keys. */
  invalidates?: readonly QueryName[];
  onDone?(result: Result): unknown;
}

export interface Act<Input> {
  run(input: Input): void;
  isBusy: boolean;
  /** The input of the action that is running. */
  input: Input | undefined;
  /** Why the action failed the last time. */
  problem: Problem | undefined;
}

/** Runs an action of a person, one at a time. A failure is kept for a notice next to the button. */
export function useAct<Input, Result>(
  work: (input: Input) => Promise<Result>,
  { toast: says, invalidates = [], onDone }: Outcome<Result> = {},
): Act<Input> {
  const refetch = useRefetch();
  const isRunning = useRef(false);
  const [running, setRunning] = useState<{ input: Input }>();
  const [problem, setProblem] = useState<Problem>();

  async function act(input: Input): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setRunning({ input });
    setProblem(undefined);
    try {
      const result = await work(input);
      const words = typeof says === "function" ? says(result) : says;
      if (words !== undefined) toast(words);
      await refetch(invalidates);
      await onDone?.(result);
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      isRunning.current = false;
      setRunning(undefined);
    }
  }

  return { run: (input) => void act(input), isBusy: running !== undefined, input: running?.input, problem };
}
