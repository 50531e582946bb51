/** Why an archive or an entry can't be read. `reason` is one of the extractor's reasons; the message is the end of a sentence. */
export class ZipError extends Error {
  readonly reason: "encrypted" | "too_large" | "failed";

  constructor(reason: ZipError["reason"], message: string) {
    super(message);
    this.name = "ZipError";
    this.reason = reason;
  }
}
