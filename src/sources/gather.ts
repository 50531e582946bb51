/**
 * The most steps in one page. A page for each file would cost as much as checking the file, so new files wait for the
 * next page.
 */
const MOST_STEPS = 64;
const MOST_MS = 50;

/** Collects the steps of a walk into pages. */
export function gather<Step>(now: () => number) {
  let page: Step[] = [];
  let dueAt = now() + MOST_MS;
  return {
    add: (step: Step): void => void page.push(step),
    isEmpty: (): boolean => page.length === 0,
    isDue: (): boolean => page.length > 0 && (page.length >= MOST_STEPS || now() >= dueAt),
    take(): Step[] {
      const taken = page;
      page = [];
      dueAt = now() + MOST_MS;
      return taken;
    },
  };
}
