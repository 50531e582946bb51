/** `winmail.dat` for tests. Source: MS-OXTNEF. */
export interface TnefParts {
  subject?: string;
  /** MAPI properties of the message by id: text, or bytes. */
  properties?: Readonly<Record<number, string | Buffer>>;
  files?: readonly { name: string; bytes?: Buffer; properties?: Readonly<Record<number, string | Buffer>> }[];
}

export function makeTnef({ subject, properties, files = [] }: TnefParts): Buffer {
  const number = (value: number, size = 4) => {
    const bytes = Buffer.alloc(size);
    bytes.writeUIntLE(value, 0, size);
    return bytes;
  };
  const attribute = (level: number, id: number, data: Buffer) =>
    Buffer.concat([Buffer.from([level]), number(id), number(data.length), data, number(0, 2)]);
  const padded = (data: Buffer) => Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)]);
  const value = (id: number, content: string | Buffer) => {
    const type = typeof content === "string" ? 0x1f : id === 0x3701 ? 0x0d : 0x102;
    const data = typeof content === "string" ? Buffer.from(`${content}\0`, "utf16le") : content;
    return Buffer.concat([number(type + id * 65_536), number(1), number(data.length), padded(data)]);
  };
  // A property with a name, and one with two numbers, come first: readers have to pass over them.
  const named = Buffer.concat([
    number(0x80010003),
    Buffer.alloc(16),
    number(1),
    number(6),
    padded(Buffer.from("ab\0\0\0\0")),
    number(7),
  ]);
  const several = Buffer.concat([number(0x66_00_10_03), number(2), number(1), number(2)]);
  const list = (found: Readonly<Record<number, string | Buffer>>) =>
    Buffer.concat([
      number(Object.keys(found).length + 2),
      named,
      several,
      ...Object.entries(found).map(([id, content]) => value(Number(id), content)),
    ]);
  return Buffer.concat([
    number(0x223e9f78),
    number(1, 2),
    attribute(1, 0x00069007, Buffer.concat([number(1251), number(0)])),
    ...(subject === undefined ? [] : [attribute(1, 0x00018004, Buffer.from(`${subject}\0`, "latin1"))]),
    ...(properties === undefined ? [] : [attribute(1, 0x00069003, list(properties))]),
    ...files.flatMap((file) => [
      attribute(2, 0x00069002, Buffer.alloc(14)),
      attribute(2, 0x00018010, Buffer.from(`${file.name}\0`, "latin1")),
      ...(file.bytes === undefined ? [] : [attribute(2, 0x0006800f, file.bytes)]),
      ...(file.properties === undefined ? [] : [attribute(2, 0x00069005, list(file.properties))]),
    ]),
  ]);
}
