/**
 * Yields the `data` of each event of a text/event-stream, in order, as they arrive.
 *
 * Source: HTML standard, server-sent events: lines end with \n, \r\n or \r, several data lines are joined with \n.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  // Leaving the loop early cancels the stream.
  for await (const chunk of body) {
    const text = rest + decoder.decode(chunk, { stream: true });
    // A \r at the end may be half of \r\n: wait for the next chunk.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + text.slice(end);
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
      } else if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    }
  }
  if (data.length > 0) yield data.join("\n");
}
