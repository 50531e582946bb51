import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const TIMEOUT_MS = 120_000;

/**
 * The text that another program finds in a file; undefined when it finds none or fails. Needs pandoc, pdftotext and
 * LibreOffice.
 */
export async function referenceText(path: string): Promise<string | undefined> {
  const reference = REFERENCES[extname(path).slice(1).toLowerCase()];
  if (reference === undefined) return undefined;
  try {
    return await reference(path);
  } catch {
    // A file that the other program can't read says nothing about ours.
    return undefined;
  }
}

const pandoc = (from: string) => async (path: string) =>
  (await run("pandoc", ["-f", from, "-t", "plain", "--wrap=none", path], OPTIONS)).stdout;

const pdftotext = async (path: string) => (await run("pdftotext", ["-q", "-enc", "UTF-8", path, "-"], OPTIONS)).stdout;

/** Pandoc takes every RTF document for one of Western Europe. */
const text = (path: string) => converted(path, "txt:Text (encoded):UTF8", (files) => readFile(files[0] ?? "", "utf8"));

/** As flat XML: pages as PDF have words that are torn apart, and what stands on every page. */
const slides = (path: string) =>
  converted(path, "fodp", async (files) => {
    const xml = await readFile(files[0] ?? "", "utf8");
    const body = xml.slice(xml.indexOf("<office:presentation"));
    return decodeEntities(
      body
        .replaceAll(
          /<(office:binary-data|office:styles|office:automatic-styles|svg:title|dc:date|text:page-number|office:meta|office:settings|config:config-item)\b.*?<\/\1>/gsu,
          " ",
        )
        .replaceAll(/<\/?text:(?:span|a)\b[^>]*>/gu, "")
        .replaceAll(/<[^>]*>/gu, " "),
    );
  });

const decodeEntities = (xml: string) =>
  xml
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&apos;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

/** All sheets, values as they are and not as they are shown. */
const sheets = (path: string) =>
  converted(path, "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1", async (files) =>
    // LibreOffice calculates again, and tells of formulas that it does not know.
    (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n").replaceAll(/Err:\d+/gu, ""),
  );

const REFERENCES: Readonly<Record<string, (path: string) => Promise<string>>> = {
  docx: pandoc("docx"),
  docm: pandoc("docx"),
  dotx: pandoc("docx"),
  odt: pandoc("odt"),
  ott: pandoc("odt"),
  rtf: text,
  epub: pandoc("epub"),
  ipynb: pandoc("ipynb"),
  html: pandoc("html"),
  pdf: pdftotext,
  pptx: slides,
  ppsx: slides,
  pptm: slides,
  odp: slides,
  xlsx: sheets,
  xlsm: sheets,
  ods: sheets,
};

const OPTIONS = { timeout: TIMEOUT_MS, maxBuffer: 256 * 1_048_576, killSignal: "SIGKILL" } as const;

async function converted(path: string, to: string, read: (files: string[]) => Promise<string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kb-reference-"));
  try {
    const profile = `-env:UserInstallation=file://${join(tmpdir(), "kb-reference-profile")}`;
    await run("soffice", [profile, "--headless", "--convert-to", to, "--outdir", folder, path], OPTIONS);
    const files = (await readdir(folder)).map((name) => join(folder, name));
    if (files.length === 0) throw new Error("nothing was converted");
    return await read(files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
