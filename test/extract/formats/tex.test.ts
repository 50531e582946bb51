import { expect, test } from "vitest";
import { textOf } from "../documents.ts";

test.each([
  [String.raw`Caf\'e, M{\"u}ller, \"{U}ber, na\"{\i}ve, \'\i{}ndice`, "Café, Müller, Über, naïve, índice"],
  [
    String.raw`Fran\c{c}ois, fran\c cais, \v{S}koda, Erd\H{o}s, \AA ngstr{\"o}m`,
    "François, français, Škoda, Erdős, Ångström",
  ],
  [String.raw`Stra\ss e, gro{\ss}, \O{}rsted, \L\'od\'z, \ae{}on`, "Straße, groß, Ørsted, Łódź, æon"],
  [String.raw`mi\-cro\-scopes`, "microscopes"],
  [String.raw`\^{e} \~n \k{a} \r{u} \.z`, "ê ñ ą ů ż"],
  // Commands that only begin so, new lines, and marks above what has none.
  [
    String.raw`\section{A} \olive \cite{x} \url{a} \\'a \'3 \'{ab} \i`,
    String.raw`\section{A} \olive \cite{x} \url{a} \\'a \'3 \'{ab} \i`,
  ],
])("%s is read as %s", async (written, read) => {
  expect((await textOf("a.tex", written)).text).toBe(read);
  expect((await textOf("a.bib", `title = {${written}}`)).text).toBe(`title = {${read}}`);
});

test("what isn't TeX keeps its backslashes", async () => {
  expect((await textOf("a.c", String.raw`puts("\"a")`)).text).toBe(String.raw`puts("\"a")`);
});
