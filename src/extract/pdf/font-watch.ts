/* oxlint-disable no-console -- the console is where pdf.js tells it */
/**
 * Counts fonts that couldn't be read. pdf.js returns no text for them and reports them only by a warning on the console, so its warnings are
 * intercepted while a document is open, and aren't printed. This is safe because a child reads one file at a time.
 */
export class FontWatch {
  /** The verbosity level at which pdf.js warns. */
  static readonly VERBOSITY = 1;
  private readonly warn = console.warn;
  private failures = 0;

  constructor() {
    console.warn = (words: unknown) => {
      if (FONT_FAILED.test(String(words))) this.failures++;
    };
  }

  /** Returns the number of failed fonts since the last call. */
  take(): number {
    const { failures } = this;
    this.failures = 0;
    return failures;
  }

  stop(): void {
    console.warn = this.warn;
  }
}

const FONT_FAILED = /translateFont failed|preEvaluateFont failed|Font "[^"]*" is not available/u;
