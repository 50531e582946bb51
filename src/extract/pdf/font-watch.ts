/* oxlint-disable no-console -- the console is where pdf.js tells it */
/**
 * Counts fonts that could not be read. pdf.js gives no text for them and reports it only by a warning on the console,
 * so while a document is open its warnings are intercepted and not printed. A child reads one file at a time.
 */
export class FontWatch {
  /** The level of pdf.js at which it warns. */
  static readonly VERBOSITY = 1;
  private readonly warn = console.warn;
  private failures = 0;

  constructor() {
    console.warn = (words: unknown) => {
      if (FONT_FAILED.test(String(words))) this.failures++;
    };
  }

  /** Number of failed fonts since the last call. */
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
