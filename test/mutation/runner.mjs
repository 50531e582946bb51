import { inject, TestRunner } from "vitest";

// oxlint-disable-next-line no-underscore-dangle -- the name that the instrumented files look for
const stryker = (globalThis.__stryker__ ??= {});
const left = new Set(inject("sample"));

/** Runs each test once as it is, then on every mutant that it reaches and none before it has seen, then as it is again. */
export default class MutantRunner extends TestRunner {
  async onBeforeRunTask(test) {
    await super.onBeforeRunTask?.(test);
    // What is not needed of them does nothing.
    if (test.type === "test") test.repeats = left.size + 1;
    this.queue = undefined;
  }

  async runTask(test) {
    if (this.queue === undefined) return this.#runAsItIs(test);
    const id = this.queue.shift();
    if (id === undefined) return;
    stryker.activeMutant = id === "none" ? undefined : id;
    stryker.hitCount = 0;
    stryker.hitLimit = (this.hits[id] ?? 0) * 100 + 1000;
    const isSeen = await this.#fails(test);
    stryker.activeMutant = undefined;
    if (id === "none" && isSeen) throw new Error("It fails without a mutant, once it has run with some.");
    if (id === "none" || !isSeen) return;
    test.meta.killed.push(id);
    left.delete(id);
  }

  async #runAsItIs(test) {
    stryker.currentTestId = test.id;
    const start = performance.now();
    try {
      await TestRunner.getTestFn(test)();
    } finally {
      stryker.currentTestId = undefined;
      this.hits = stryker.mutantCoverage?.perTest[test.id] ?? {};
      this.longestMs = 5_000 + 10 * (performance.now() - start);
      const reached = Object.keys(this.hits).filter((id) => left.has(id));
      // What a module made when it was imported stays as it is.
      const fixed = Object.keys(stryker.mutantCoverage?.static ?? {});
      Object.assign(test.meta, { reached, fixed, killed: [] });
      this.queue = reached.length > 0 ? [...reached, "none"] : [];
    }
  }

  /** Whether it does; one that takes very much longer does, too. */
  async #fails(test) {
    let timer;
    const late = new Promise((resolve) => void (timer = setTimeout(() => resolve(true), this.longestMs)));
    const ran = TestRunner.getTestFn(test)().then(
      () => test.result.state === "fail",
      () => true,
    );
    const isFailed = await Promise.race([ran, late]);
    clearTimeout(timer);
    test.result.state = "run";
    test.result.errors = undefined;
    return isFailed;
  }
}
