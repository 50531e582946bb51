import type { IncomingMessage } from "node:http";

/** Largest form that is inspected, in bytes: less than a stream buffers, so that all of it can be put back. */
const MAX_BYTES = 8_192;

/**
 * Reads the whole body and puts it back for the next reader; empty for one that is too long, has no length or breaks
 * off.
 */
export async function peekForm(incoming: IncomingMessage): Promise<string> {
  const body = await take(incoming);
  // Before the stream signals its end: it has data to deliver again.
  if (body) incoming.unshift(body);
  return body?.toString("utf8") ?? "";
}

/** Replaces the form in the body where `change` changes it; one that can't be inspected is left as it is. */
export async function rewriteForm(incoming: IncomingMessage, change: (form: URLSearchParams) => void): Promise<void> {
  const body = await take(incoming);
  if (body === undefined) return;
  const form = new URLSearchParams(body.toString("utf8"));
  const before = form.toString();
  change(form);
  const after = form.toString();
  const changed = after === before ? body : Buffer.from(after);
  incoming.unshift(changed);
  incoming.headers["content-length"] = String(changed.length);
}

async function take(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const length = Number(incoming.headers["content-length"] ?? 0);
  if (!(length > 0 && length <= MAX_BYTES)) return undefined;
  await arrivalOf(incoming, length);
  const body: unknown = incoming.read(length);
  return body instanceof Buffer ? body : undefined;
}

const ARRIVALS = ["readable", "close", "error"] as const;

/**
 * Waits until that many bytes have arrived, or the stream ends. It listens once for all of them: Node notifies a new
 * listener again of data that has already arrived, so listening again for each piece would loop forever.
 */
function arrivalOf(incoming: IncomingMessage, length: number): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (incoming.readable && incoming.readableLength < length) return;
      for (const event of ARRIVALS) incoming.off(event, check);
      resolve();
    };
    for (const event of ARRIVALS) incoming.on(event, check);
    check();
  });
}
