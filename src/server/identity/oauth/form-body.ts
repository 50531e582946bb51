import type { IncomingMessage } from "node:http";

/** Bytes of a form that are looked at: less than what a stream holds at once, so that all of it can be put back. */
const MAX_BYTES = 8_192;

/** The whole body, put back for the next reader; empty for one that is too long, says no length or breaks off. */
export async function peekForm(incoming: IncomingMessage): Promise<string> {
  const body = await take(incoming);
  // Before the stream says that it ended: it has something to give again.
  if (body) incoming.unshift(body);
  return body?.toString("utf8") ?? "";
}

/** Puts another form in the place of the body where `change` changes it; one that can't be looked at stays as it is. */
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
 * Waits until so many bytes are there, or no more come. It listens once for all of them: Node tells a new listener again what
 * has arrived, so listening again for each piece would go round for ever.
 */
function arrivalOf(incoming: IncomingMessage, length: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (incoming.readable && incoming.readableLength < length) return;
      for (const event of ARRIVALS) incoming.off(event, look);
      resolve();
    };
    for (const event of ARRIVALS) incoming.on(event, look);
    look();
  });
}
