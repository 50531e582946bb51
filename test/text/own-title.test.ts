import { expect, test } from "vitest";
import { ownTitle } from "#text/own-title.ts";

test("what programs write where no one gave a title is none", () => {
  const nothing = ["", "  ", "--", "Untitled", "untitled-2", "Document1", "PowerPoint Presentation", "(no subject)"];
  for (const stated of [undefined, ...nothing, "Microsoft Word - plan.doc", "plan.doc"]) {
    expect([stated, ownTitle(stated, "plan.doc")]).toEqual([stated, undefined]);
  }
});

test("a title is one line of at most 300 characters", () => {
  expect(ownTitle(" Plan\n for  March ", "a.md")).toBe("Plan for March");
  const long = ownTitle("word ".repeat(200), "a.md") ?? "";
  expect([long.length <= 300, long.endsWith("word…")]).toEqual([true, true]);
});

test.for([
  [
    "Word, Excel, PowerPoint",
    [
      "Dokument1",
      "Mappe 2",
      "PowerPoint-Präsentation",
      "Présentation PowerPoint",
      "Classeur1",
      "Presentación de PowerPoint",
      "Libro1",
      "Presentazione standard di PowerPoint",
      "Cartel1",
      "Apresentação do PowerPoint",
      "Pasta1",
      "PowerPoint-presentatie",
      "Prezentacja programu PowerPoint",
      "Zeszyt1",
      "Презентация PowerPoint",
      "Книга1",
      "PowerPoint プレゼンテーション",
      "文書 1",
      "PowerPoint 演示文稿",
      "工作簿1",
      "Microsoft Word - Dokument1.docx",
      "Folie 1",
      "Document1.docx",
    ],
  ],
  [
    "LibreOffice",
    [
      "Unbenannt 1",
      "Sans nom 2",
      "Sin título 3",
      "Senza nome 1",
      "Sem título 1",
      "Naamloos 1",
      "Bez nazwy 1",
      "Без имени 1",
      "無題 1",
      "无标题 1",
    ],
  ],
  [
    "Google",
    [
      "Untitled document",
      "Unbenanntes Dokument",
      "Feuille de calcul sans titre",
      "Presentación sin título",
      "Foglio di lavoro senza titolo",
      "Apresentação sem título",
      "Naamloze presentatie",
      "Dokument bez tytułu",
      "Новая таблица",
      "無題のドキュメント",
      "无标题表格",
    ],
  ],
  [
    "editors and browsers",
    [
      "Untitled - Notepad",
      "*plan.txt - Notepad",
      "Unbenannt - Editor",
      "Sans titre - Bloc-notes",
      "Sin título: Bloc de notas",
      "Безымянный — Блокнот",
      "無題 - メモ帳",
      "about:blank",
      "New Tab",
      "Neuer Tab",
      "新しいタブ",
      "http://localhost:3000/",
      "file:///C:/x/plan.html",
      "Index of /files",
    ],
  ],
  ["Keynote and libraries", ["Ohne Titel", "名称未設定", "未命名", "(anonymous)", "untitled", "(unspecified)", "None"]],
  [
    "scanners",
    [
      "Scan_20250304",
      "SCAN0001",
      "SKM_C25825030410120",
      "CamScanner 03-04-2025 12.30",
      "Adobe Scan 4 Mar 2025",
      "Gescanntes Dokument",
      "Document numérisé 3",
      "スキャン",
      "IMG_1234",
      "Scanned from a Xerox Multifunction Printer",
    ],
  ],
] as const)("the default titles of %s are none", ([, titles], { expect: expectHere }) => {
  expectHere(titles.filter((title) => ownTitle(title, "plan.doc") !== undefined)).toEqual([]);
});

test("titles that begin like a default one are kept", () => {
  for (const title of [
    "Document management plan",
    "Scan of the week",
    "Book 2: The Sea",
    "Präsentation Windpark",
    "Untitled Goose Game",
    "Notepad",
    "New tab strip design",
    "Libro blanco",
    "Mapa",
    "https is hard",
    "Canon law 1983 commentary",
    "Unknown unknowns",
  ]) {
    expect(ownTitle(title, "a.pdf")).toBe(title);
  }
});
