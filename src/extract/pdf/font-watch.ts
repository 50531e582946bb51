/* oxlint-disable no-console -- the console is where pdf.js tells it */
/**
 * Counts fonts that could not be read. pdf.js gives no text for them and tells it by a warning on the console alone, so
 * its warnings are heard, and go no further, while a document is open. A child reads one file at a time.
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

  /** How many fonts failed since it was last asked. */
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
