import type { IncomingMessage } from "node:http";

/**
 * Maximum size of a form that is inspected, in bytes. It is less than a stream buffers, so that the whole form can be
 * put back.
 */
const MAX_BYTES = 8_192;

/**
 * Reads the whole body and puts it back for the next reader. Returns an empty text if the body is too long, has no
 * length or is cut off.
 */
export async function peekForm(incoming: IncomingMessage): Promise<string> {
  const body = await take(incoming);
  // The body is put back before the stream signals its end, so that the stream delivers it again.
  if (body) incoming.unshift(body);
  return body?.toString("utf8") ?? "";
}

/** Replaces the form in the body if `change` changes it. A form that can't be inspected stays unchanged. */
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
 * Waits until that many bytes have arrived, or the stream ends. It adds one listener for all data: Node notifies a new
 * listener again of data that has already arrived, so a new listener for each piece would loop forever.
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
