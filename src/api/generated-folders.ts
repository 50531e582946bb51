/** Folders that programs generate and regenerate: not documents, and numerous. The server skips them, `kb` doesn't count them. */

/** Names that people never give a folder of documents. */
const TELLING = new Set(
  (
    "node_modules bower_components jspm_packages __pycache__ __pypackages__ site-packages .venv .tox .nox .eggs .mypy_cache " +
    ".pytest_cache .ruff_cache .ipynb_checkpoints .gradle .next .nuxt .svelte-kit .turbo .parcel-cache .angular .yarn .pnpm-store " +
    ".terraform .serverless .cache .dart_tool .stack-work elm-stuff DerivedData"
  ).split(" "),
);

const WEB = ["package.json"];
const PYTHON = ["pyproject.toml", "setup.py", "setup.cfg"];
const JVM = ["pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"];
const NATIVE = ["CMakeLists.txt", "Makefile", "meson.build"];

/** Names that people use too. They mean a generated folder only next to a file of the program that generates them. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  target: ["Cargo.toml", ...JVM],
  dist: [...WEB, ...PYTHON],
  build: [...WEB, ...PYTHON, ...JVM, ...NATIVE, "pubspec.yaml"],
  out: [...WEB, ...JVM],
  coverage: [...WEB, ...PYTHON, "go.mod"],
  vendor: ["composer.json", "go.mod", "Gemfile"],
  Pods: ["Podfile"],
  _build: ["mix.exs", "dune-project", "conf.py"],
  deps: ["mix.exs"],
};

/** Generated folders next to a .NET project, whose file has the project's own name. */
const DOTNET = new Set(["bin", "obj"]);

/** Files that mark the folder that contains them as generated: a Python virtual environment, or a cache according to https://bford.info/cachedir/. */
const INSIDE = ["pyvenv.cfg", "CACHEDIR.TAG"];

/** Whether a folder is generated, judged by its name and its siblings. */
export function isGeneratedFolder(name: string, siblings: ReadonlySet<string>): boolean {
  if (TELLING.has(name) || name.endsWith(".egg-info")) return true;
  if (DOTNET.has(name)) return [...siblings].some((other) => /\.(?:cs|fs|vb)proj$/.test(other));
  const makers = Object.hasOwn(BESIDE, name) ? BESIDE[name] : undefined;
  return makers?.some((maker) => siblings.has(maker)) ?? false;
}

/** Whether a folder is generated, judged by the names in it. */
export function holdsGeneratedMarker(names: readonly string[]): boolean {
  return names.some((name) => INSIDE.includes(name));
}
