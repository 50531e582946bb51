/** Detects a file by its first bytes, for types that the library doesn't detect and that may look like text. */
export function kindByMark(sample: Uint8Array): { mimeType: string; label: string } | undefined {
  const start = Buffer.from(sample.buffer, sample.byteOffset, Math.min(sample.length, 4_096));
  if (start.subarray(0, 4).equals(TNEF)) return { mimeType: "application/vnd.ms-tnef", label: "winmail.dat (TNEF)" };
  if (start.subarray(0, 6).toString("latin1") === "bplist") {
    const isPage = start.includes("WebMainResource") || start.includes("WebResource");
    return isPage
      ? { mimeType: "application/x-webarchive", label: "Safari web archive" }
      : { mimeType: "application/x-bplist", label: "binary property list" };
  }
  if (start[0] !== 0x30) return undefined;
  const at = start.subarray(0, 40).indexOf(PKCS7);
  const kind = at < 0 ? undefined : start[at + PKCS7.length];
  if (kind === 2) return { mimeType: "application/pkcs7-mime", label: "signed mail (S/MIME)" };
  return kind === 3 ? { mimeType: "application/pkcs7-mime", label: "encrypted mail (S/MIME)" } : undefined;
}

const TNEF = Buffer.from("789f3e22", "hex");
/** The PKCS #7 identifier without its last number. Source: RFC 5652. */
const PKCS7 = Buffer.from("06092a864886f70d0107", "hex");
