/** A value of BER, with a length or open-ended. */
export function ber(tag: number, content: Buffer, isOpen = false): Buffer {
  if (isOpen) return Buffer.concat([Buffer.from([tag, 0x80]), content, Buffer.alloc(2)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
}

/** Signed data that wraps this, in one piece or in pieces of 10 bytes as streams are signed. */
export function signed(content: Buffer, isOpen: boolean): Buffer {
  const oid = (hex: string) => Buffer.from(`0609${hex}`, "hex");
  const pieces = Array.from({ length: Math.ceil(content.length / 10) }, (_, n) =>
    content.subarray(n * 10, n * 10 + 10),
  );
  const octets = isOpen ? ber(0x24, Buffer.concat(pieces.map((piece) => ber(0x04, piece))), true) : ber(0x04, content);
  const info = ber(0x30, Buffer.concat([oid("2a864886f70d010701"), ber(0xa0, octets, isOpen)]), isOpen);
  const data = Buffer.concat([
    Buffer.from("020101", "hex"),
    ber(0x31, Buffer.alloc(0)),
    info,
    ber(0x31, Buffer.alloc(0)),
  ]);
  return ber(0x30, Buffer.concat([oid("2a864886f70d010702"), ber(0xa0, ber(0x30, data, isOpen), isOpen)]), isOpen);
}
