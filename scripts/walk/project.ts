import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript-api";

export interface Project {
  program: ts.Program;
  checker: ts.TypeChecker;
  service: ts.LanguageService;
  /** Whether a file is of the project's own sources. */
  isOwn(file: string): boolean;
}

/** The sources of a checkout as its `tsconfig.json` reads them, tests left out. */
export function openProject(root: string): Project {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile) as { config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, root);
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) =>
      ts.sys.fileExists(path) ? ts.ScriptSnapshot.fromString(readFileSync(path, "utf8")) : undefined,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  const program = service.getProgram();
  if (program === undefined) throw new Error("The program could not be made.");
  const sources = join(root, "src/");
  return { program, checker: program.getTypeChecker(), service, isOwn: (file) => file.startsWith(sources) };
}
