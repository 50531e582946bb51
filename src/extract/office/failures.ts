import { type Format, type FormatInput, type FormatResult, noText } from "#extract/format.ts";
import { ZipError } from "#extract/zip-error.ts";

/** Makes a format for ZIP archives. An error of the archive becomes the reason why there is no text. */
export function zipFormat(read: (input: FormatInput) => FormatResult): Format {
  return { extract: (input) => withZipReasons(() => read(input)) };
}

function withZipReasons(read: () => FormatResult): FormatResult {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ZipError) || error.reason === "failed") throw error;
    const words = error.reason === "encrypted" ? "is password-protected" : "is too large to be unpacked";
    return noText(error.reason, `The document ${words}: ${error.message}.`);
  }
}
