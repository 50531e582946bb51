import { createHmac, timingSafeEqual } from "node:crypto";
import { ID_ALPHABET } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { Clock } from "#core/clock.ts";

/** The position after which a list continues: the row with this value and this id. */
export interface CursorPosition {
  /** Bits for the caller's use: sort order, direction, kind of value. 0–255. */
  flags: number;
  /** The sort value, 0 to 2^48 − 1; times are epoch milliseconds. */
  value: number;
  /** The 16 characters of an id after its prefix. If the value alone is the position, "" (decoded as the lowest id). */
  id: string;
}

/** The owner of a cursor and the list that it continues. The cursor is invalid for any other owner or list. */
export interface CursorScope {
  workspaceId: string;
  userId: string;
  /** The route, or the name of the tool. */
  route: string;
  /** The request's arguments without `cursor` and `limit`. The order of keys and absent values don't matter. */
  args: Readonly<Record<string, unknown>>;
}

export type CursorCodec = ReturnType<typeof makeCursorCodec>;

/**
 * The body has 1 byte flags + 6 bytes value + 10 bytes id; with 4 bytes MAC, 21 bytes = 28 characters without padding.
 */
const BODY_BYTES = 17;
const MAC_BYTES = 4;
const ID_CHARS = 16;
const DAY_MS = 86_400_000;

/** Returns false for text that this server can't have issued. */
function isCursorShaped(text: string): boolean {
  return /^[A-Za-z0-9_-]{28}$/.test(text);
}

/** Makes the codec with its key. Cursors made today are valid until the end of tomorrow (UTC). Source: S16. */
export function makeCursorCodec(key: Uint8Array, clock: Clock) {
  const today = () => Math.floor(clock.now() / DAY_MS);
  const mac = (scope: CursorScope, body: Uint8Array, day: number) =>
    createHmac("sha256", key)
      .update(JSON.stringify([scope.workspaceId, scope.userId, scope.route, normalize(scope.args), day]))
      .update(body)
      .digest()
      .subarray(0, MAC_BYTES);

  /** Encrypts or decrypts a position, since a number in it can show how active others are. */
  function veil(body: Uint8Array, tag: Uint8Array): Buffer {
    const stream = createHmac("sha256", key).update("veil").update(tag).digest();
    return Buffer.from(body.map((byte, at) => byte ^ (stream[at] ?? 0)));
  }

  return {
    /** Returns a cursor of 28 base64url characters. */
    encode(scope: CursorScope, position: CursorPosition): string {
      const body = encodePosition(position);
      const tag = mac(scope, body, today());
      return Buffer.concat([veil(body, tag), tag]).toString("base64url");
    },
    /**
     * @throws ApiError `invalid_cursor` if the cursor is damaged, belongs to other arguments or another person, or is
     *   more than a day old
     */
    decode(scope: CursorScope, cursor: string): CursorPosition {
      if (!isCursorShaped(cursor)) throw invalidCursor();
      const bytes = Buffer.from(cursor, "base64url");
      const receivedMac = bytes.subarray(BODY_BYTES);
      const body = veil(bytes.subarray(0, BODY_BYTES), receivedMac);
      const isOurs = [today(), today() - 1].some((day) => timingSafeEqual(mac(scope, body, day), receivedMac));
      if (!isOurs) throw invalidCursor();
      return decodePosition(body);
    },
  };
}

function encodePosition({ flags, value, id }: CursorPosition): Buffer {
  const body = Buffer.alloc(BODY_BYTES);
  body.writeUInt8(flags, 0);
  body.writeUIntBE(value, 1, 6);
  if (id === "") return body;
  // 16 characters of 5 bits are exactly 10 bytes.
  let bits = 0n;
  for (const char of id) {
    const digit = ID_ALPHABET.indexOf(char);
    if (digit === -1) throw new Error(`"${id}" is not the body of an id.`);
    bits = (bits << 5n) | BigInt(digit);
  }
  if (id.length !== ID_CHARS) throw new Error(`"${id}" is not the body of an id.`);
  body.write(bits.toString(16).padStart(20, "0"), 7, "hex");
  return body;
}

function decodePosition(body: Buffer): CursorPosition {
  let bits = BigInt(`0x${body.subarray(7).toString("hex")}`);
  let id = "";
  for (let i = 0; i < ID_CHARS; i++) {
    id = (ID_ALPHABET[Number(bits & 31n)] ?? "") + id;
    bits >>= 5n;
  }
  return { flags: body.readUInt8(0), value: body.readUIntBE(1, 6), id };
}

/** Returns the arguments with sorted keys and without absent values, at every depth. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined && inner !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, normalize(inner)]);
}

function invalidCursor(): ApiError {
  return new ApiError("invalid_cursor", {
    message: "The cursor is not valid: it belongs to other arguments, or is older than a day. Start again without it.",
    field: "cursor",
  });
}
