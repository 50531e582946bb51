/**
 * Returns the encoding that a page declares: `<meta charset=…>`, `charset=…"`, or an XML declaration. Like a browser,
 * it also searches beyond the first kilobyte, because site builders write scripts before the declaration. Declarations
 * inside scripts are ignored.
 */
export function htmlEncodingOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, MAX_HEAD_BYTES)).toString("latin1");
  const declared = (html: string) => DECLARATION.exec(withoutRaw(html))?.[1];
  return declared(start.slice(0, 1_024)) ?? declared(start);
}

/** Returns the encoding in an XML document's declaration. */
export function xmlEncodingOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1");
  return /<\?xml\s[^>]{0,400}?\bencoding\s*=\s*["']\s*([\w.:-]{2,40})/iu.exec(start)?.[1];
}

const MAX_HEAD_BYTES = 65_536;
const DECLARATION = /<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*["']?\s*([\w.:-]{2,40})/iu;

/** Removes comments, scripts and styles. An unclosed one extends to the end. */
function withoutRaw(html: string): string {
  const lower = html.toLowerCase();
  let rest = "";
  let at = 0;
  for (const { 0: open, index } of lower.matchAll(/<!--|<script|<style/gu)) {
    if (index < at) continue;
    rest += html.slice(at, index);
    const end = lower.indexOf(open === "<!--" ? "-->" : `</${open.slice(1)}`, index + open.length);
    if (end < 0) return rest;
    at = end;
  }
  return rest + html.slice(at);
}
