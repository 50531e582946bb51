import { unavailable } from "#sources/errors.ts";
import { Parser } from "htmlparser2";
import type { ApiError } from "#api/errors.ts";

/** An element and its direct children. Names have no prefix. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

const MAX_DEPTH = 8;
/** The most elements. A page has 1,000 objects with some ten elements each. */
const MAX_ELEMENTS = 100_000;

/**
 * Parses a response. Only the five entities of XML are known and a document type is refused, so nothing in the response
 * can expand or refer to other documents.
 *
 * @throws ApiError `source_unavailable` if the response isn't XML, ends early, or is larger than any page
 */
export function readXml(text: string, host: string): XmlElement {
  const top: XmlElement = { name: "", text: "", children: [] };
  const open = [top];
  let elements = 0;
  let isEnding = false;
  let isWhole = false;
  const parser = new Parser(
    {
      onopentag(name) {
        if (open.length > MAX_DEPTH || ++elements > MAX_ELEMENTS)
          throw bad(host, "sends more XML than a page can have");
        const element: XmlElement = { name: name.slice(name.indexOf(":") + 1), text: "", children: [] };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      ontext(piece) {
        const element = open.at(-1);
        if (element !== undefined) element.text += piece;
      },
      onclosetag() {
        // This element was never closed: only the end of the text closes it.
        if (isEnding) return;
        isWhole ||= open.length === 2;
        if (open.length > 1) open.pop();
      },
      onprocessinginstruction(name) {
        if (name.startsWith("!")) throw bad(host, "sends XML with a document type, which kb doesn't read");
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(text);
  isEnding = true;
  parser.end();
  const [root] = top.children;
  if (root === undefined || !isWhole)
    throw bad(host, root === undefined ? "isn't answering as an S3 server" : "ended its response early");
  return root;
}

/** Returns the text of the first child with this name. */
export function textOf(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text;
}

function bad(host: string, what: string): ApiError {
  return unavailable(`${host} ${what}.`);
}
