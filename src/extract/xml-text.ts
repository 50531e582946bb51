import { type Handler, Parser } from "htmlparser2";

/** Number of characters per step; small, because the parser processes all open elements at each step. */
const STEP_LENGTH = 8_192;

/** Passes the elements of an XML text to the handler, in one pass without a tree, until nothing more is needed. */
export function parseXml(source: string, handler: Partial<Handler>, isDone: () => boolean): void {
  const parser = new Parser(handler, { xmlMode: true, decodeEntities: true, recognizeSelfClosing: true });
  for (let at = 0; at < source.length && !isDone(); at += STEP_LENGTH) parser.write(source.slice(at, at + STEP_LENGTH));
  parser.end();
}
