/**
 * A line of the stream without its line end, or a note that the line was too long and its bytes were dropped. Line
 * numbers start at 1.
 */
export type RawLine = { line: number; bytes: Uint8Array } | { line: number; isTooLong: true };

/**
 * Splits a byte stream at `\n`, and also removes a `\r` before it. Holds only one line of at most `maxBytes` in memory,
 * whatever the stream contains; the bytes of a longer line are dropped. A last line without a line end is yielded too.
 * Empty lines are counted and not yielded. Yields to the event loop between lines, since buffered data would otherwise
 * be read without a break.
 */
export async function* splitLines(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<RawLine, void> {
  let line = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  let inARow = 0;
  const finish = (): RawLine => {
    const isTooLong = length > maxBytes;
    const raw: RawLine = isTooLong ? { line, isTooLong } : { line, bytes: withoutReturn(joined(parts)) };
    line += 1;
    parts = [];
    length = 0;
    return raw;
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      start = end + 1;
      if (++inARow % LINES_IN_A_ROW === 0) await new Promise((resolve) => setImmediate(resolve));
      if (length > 0) yield finish();
      else line += 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield finish();

  function take(bytes: Uint8Array): void {
    length += bytes.length;
    if (length > maxBytes) parts = [];
    // The bytes are copied, because a view would keep the whole chunk in memory, and the sender may reuse its buffer.
    else if (bytes.length > 0) parts.push(new Uint8Array(bytes));
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts;
  return first !== undefined && others.length === 0 ? first : Buffer.concat(parts);
}

/** The number of lines between two yields, which take far less than a millisecond. */
const LINES_IN_A_ROW = 256;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

function withoutReturn(bytes: Uint8Array): Uint8Array {
  return bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
}
